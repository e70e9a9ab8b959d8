import Basics
import HTTP
import JSONText

// What `respond` makes of the values of a request.
extension RespondPlan {
    /// Whether it changes the members that the calls have made.
    var changesMembers: Bool { !put.isEmpty || drop != nil || defaults != nil }

    /// The members without those that are dropped, with those that are put and with defaults.
    ///
    /// - Parameter taken: receives the keys of `put` that exist already
    func members(
        of object: JSONSlice, _ values: CallValues, taken: inout [String]
    ) -> JSONObjectBuilder {
        var object = object
        var keys: [String] = []
        // Only `take` can fail, and only a change of case drops keys.
        if let drop, let rest = try? drop.applied(to: object, reporting: &keys) { object = rest }
        if !put.isEmpty {
            var members = JSONObjectBuilder(continuing: object, mayRepeatNames: true)
            for (name, value) in put {
                var json: [UInt8] = []
                guard values.append(value, to: &json) else { continue }
                if !members.add(name, write: { $0 += json }) {
                    taken.append(String(name.plain))
                }
            }
            object = members.finish()
        }
        if let defaults { object = defaults.applied(to: object) }
        return JSONObjectBuilder(continuing: object)
    }

    /// The whole body with `root`, `null` where its value is missing; nil without `root`.
    func rootBody(_ values: CallValues) -> Bytes? {
        root.map { Self.json($0, values) }
    }

    /// The response of an endpoint without calls.
    func response(_ values: CallValues) -> Response {
        var fields = Fields()
        let bytes: Bytes
        switch body {
        case nil: bytes = Bytes()
        case .text(let text):
            bytes = text
            fields.append(.contentType, "text/plain; charset=utf-8")
        case .json(let value):
            bytes = Self.json(value, values)
            fields.append(.contentType, "application/json")
        }
        for (name, value) in lines(values) { fields.set(name, value) }
        return Response(status: status, fields: fields, body: bytes)
    }

    /// The header lines. A line is left out if a value is missing, or cannot be part of one, or would change where
    /// a `Location` leads.
    func lines(_ values: CallValues) -> [(name: FieldName, value: FieldValue)] {
        headers.compactMap { name, template in
            guard !template.riskySegments.contains(where: { $0.isRefused(in: values) }) else {
                return nil
            }
            return template.fieldValue(in: values).map { (name, $0) }
        }
    }

    private static func json(_ value: ValuePlan, _ values: CallValues) -> Bytes {
        var json: [UInt8] = []
        return values.append(value, to: &json) ? Bytes(json) : JSONSlice.null.bytes
    }
}
