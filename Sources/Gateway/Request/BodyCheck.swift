import Basics
import GatewayConfig
import JSONText
import Patterns

/// One walk through a body along its schema: it goes as deep as the schema, whatever the body does.
struct BodyCheck {
    private(set) var errors: [InvalidRequest.Fault] = []
    /// What the patterns of the request may still cost.
    private(set) var work: PatternWork
    /// The names on the way to where the walk is.
    private var path: [String] = []

    init(work: PatternWork) {
        self.work = work
    }

    mutating func check(_ value: JSONSlice, _ schema: BodySchema) {
        if let kind = schema.kind, value.kind != kind { return refuse(schema.wrongKind) }
        if let rule = schema.rule, let reason = rule.refusal(ofJSON: value, &work) {
            return refuse(reason)
        }
        if !schema.members.isEmpty { checkMembers(of: value, schema.members) }
    }

    private mutating func checkMembers(of object: JSONSlice, _ members: [BodySchema.Member]) {
        for (member, value) in zip(members, object.values(of: members)) {
            path.append(member.name)
            if let value {
                check(value, member.schema)
            } else if member.isRequired {
                refuse(.required)
            }
            path.removeLast()
        }
    }

    private mutating func refuse(_ reason: Reason) {
        errors.append(
            InvalidRequest.Fault(
                location: .body, name: path.joined(separator: "."), reason: reason))
    }
}

extension ValueRule {
    /// Null, objects and arrays have no text, and are refused for that.
    fileprivate func refusal(ofJSON value: JSONSlice, _ work: inout PatternWork) -> Reason? {
        guard let text = value.text else { return wrongKind }
        return refusal(of: text, &work)
    }
}

extension JSONSlice {
    /// In one pass over the object; of a key that comes twice the last value counts.
    fileprivate func values(of members: [BodySchema.Member]) -> [JSONSlice?] {
        var values = [JSONSlice?](repeating: nil, count: members.count)
        for member in self.members {
            guard let index = members.firstIndex(where: { member.key.means($0.key) }) else {
                continue
            }
            values[index] = member.value
        }
        return values
    }
}
