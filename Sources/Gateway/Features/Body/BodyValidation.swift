import Basics
import JSONText
import Patterns

/// Checks a body against its schema. The recursion is as deep as the schema, whatever the body
/// contains.
struct BodyValidation {
    private(set) var errors: [InvalidRequest.Fault] = []
    /// The remaining work limit for the request's patterns.
    private(set) var work: PatternWork
    /// The names of the members on the path to the current value.
    private var path: [String] = []
    private var unknownNames = 0
    private static let unknownNamesMax = 20

    init(work: PatternWork) {
        self.work = work
    }

    mutating func check(_ value: JSONSlice, _ schema: BodySchema) {
        if let kind = schema.kind, value.kind != kind { return refuse(schema.wrongKind) }
        if let rule = schema.rule, let reason = rule.refusal(ofJSON: value, &work) {
            return refuse(reason)
        }
        if schema.isClosed { refuseOthers(of: value, than: schema.members) }
        if !schema.members.isEmpty { checkMembers(of: value, schema.members) }
    }

    /// Refuses undeclared members. The number of names in a response is limited, because a body can
    /// have any number of them.
    private mutating func refuseOthers(of object: JSONSlice, than members: [BodySchema.Member]) {
        for member in object.members {
            guard !members.contains(where: { member.key.means($0.key) }) else { continue }
            guard unknownNames < Self.unknownNamesMax else { return }
            unknownNames += 1
            path.append(String(member.key.unescaped))
            refuse(.unknown)
            path.removeLast()
        }
    }

    private mutating func checkMembers(of object: JSONSlice, _ members: [BodySchema.Member]) {
        for (member, value) in zip(members, object.values(of: members)) {
            path.append(member.name)
            switch value {
            case .one(let value): check(value, member.schema)
            case .several: refuse(.repeated)
            case .none: if member.isRequired { refuse(.required) }
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
    /// Null, objects and arrays have no text and are refused.
    fileprivate func refusal(ofJSON value: JSONSlice, _ work: inout PatternWork) -> Reason? {
        guard let text = value.text else { return wrongKind }
        return refusal(of: text, &work)
    }
}

extension JSONSlice {
    /// The values of these members, in one pass over the object. Of a name that occurs several times,
    /// other readers may take another value than the gateway.
    fileprivate func values(of members: [BodySchema.Member]) -> [MemberValue] {
        var values = [MemberValue](repeating: .none, count: members.count)
        for member in self.members {
            guard let index = members.firstIndex(where: { member.key.means($0.key) }) else {
                continue
            }
            if case .none = values[index] {
                values[index] = .one(member.value)
            } else {
                values[index] = .several
            }
        }
        return values
    }
}

/// The value of a member in an object.
private enum MemberValue {
    case none
    case one(JSONSlice)
    case several
}
