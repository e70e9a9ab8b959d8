import Basics
import HTTP
import HTTPClient
import JSONText
import Reactor

/// Decodes a backend's response to a part: checks status and JSON, then takes, keeps, drops,
/// renames.
struct Decoder {
    let plan: CallPlan
    /// Whether the part is the whole body.
    private let takesWhole: Bool
    /// The only kind that has a place in the response; nil for any.
    private let kind: JSONSlice.Kind?

    init(plan: CallPlan) {
        self.plan = plan
        takesWhole = plan.shape.isIdentity
        kind =
            switch plan.placement {
            case .root where !plan.keepsNothing: .object
            case .appended where plan.list == nil: .array
            case .appended, .elements, .root, .named, .nested, .absent: nil
            }
    }

    /// - Parameter droppedKeys: receives keys that the change of case dropped, since others became equal
    func part(
        of response: ClientResponse, on loop: any Loop, reporting droppedKeys: inout [String]
    ) throws -> Part {
        guard plan.accept.contains(where: { $0.contains(Int(response.status.code)) }) else {
            throw unexpected(response, at: loop.unixTime)
        }
        if let coding = response.contentCoding { throw CallFailure.contentCoding(coding) }
        return Part(
            value: try shaped(response, reporting: &droppedKeys), fields: relayed(response.fields))
    }

    private func relayed(_ fields: Fields) -> Fields {
        var relayed = Fields()
        for name in plan.relayHeaders {
            for value in fields.all(name) { relayed.append(name, value) }
        }
        return relayed
    }

    /// Only an object can be merged into the root, and only an array be appended, unless the body is empty;
    /// with `keep: []` there is nothing to merge.
    private func shaped(
        _ response: ClientResponse, reporting keys: inout [String]
    ) throws -> JSONSlice {
        let content = response.content
        let isEmpty = content.isEmpty
        let whole = try value(of: content)
        let value = takesWhole ? whole : try plan.shape.applied(to: whole, reporting: &keys)
        guard let kind, !isEmpty, value.kind != kind else { return value }
        throw InvalidShape()
    }

    /// An empty body, such as the body of a 204, is null and not a failure.
    private func value(of content: consuming Bytes) throws -> JSONSlice {
        guard !content.isEmpty else { return .null }
        do {
            return try JSONSlice(validating: content)
        } catch {
            throw CallFailure.invalidJSON(error.description)
        }
    }

    private func unexpected(_ response: ClientResponse, at unixTime: Int64) -> CallFailure {
        .unexpectedStatus(
            response.status,
            retryAfter: response.fields[.retryAfter].flatMap {
                RetryAfter.seconds($0.bytes, at: unixTime).map { Int($0) }
            },
            response: plan.relays(response.status) ? relayable(response) : nil)
    }

    /// Nil if only the status is relayed.
    private func relayable(_ response: ClientResponse) -> RelayableResponse? {
        guard plan.relaysBody || !plan.relayHeaders.isEmpty else { return nil }
        return RelayableResponse(
            response, relaying: relayed(response.fields), withBody: plan.relaysBody)
    }
}

extension ClientResponse {
    /// The coding of its content (RFC 9110 8.4); nil without one.
    fileprivate var contentCoding: FieldValue? {
        guard !fields.isEmpty, !content.isEmpty else { return nil }
        return fields.all(.contentEncoding).first { value in
            ListEntries(value.bytes).contains { !$0.span.equalsIgnoringCase("identity") }
        }
    }
}
