/// The members of a response: the parts of calls under their keys, and in the objects that paths lead to.
struct OpenAPIMembers {
    private let root = Member("")

    init(_ calls: [CallPlan]) {
        for call in calls {
            switch call.placement {
            case .root, .absent, .elements: break
            case .named(let key): root.member(key).part = OpenAPIPart(call).tree
            case .nested(let keys): member(keys).part = OpenAPIPart(call).tree
            case .appended(let keys): member(keys).isArray = true
            }
        }
    }

    var properties: [(String, JSONTree)] { root.members.map { ($0.key, $0.schema) } }

    private func member(_ keys: [String]) -> Member { keys.reduce(root) { $0.member($1) } }

    private final class Member {
        let key: String
        /// The schema of a call's part; nil for an object or array that parts are put in.
        var part: JSONTree?
        var isArray = false
        private(set) var members: [Member] = []

        init(_ key: String) { self.key = key }

        func member(_ key: String) -> Member {
            if let known = members.first(where: { $0.key == key }) { return known }
            members.append(Member(key))
            return members[members.count - 1]
        }

        /// A part that gets members may have others. The recursion is as deep as the paths of the configuration.
        var schema: JSONTree {
            if members.isEmpty, !isArray { return part ?? .object([]) }
            let type = isArray ? "array" : "object"
            var keywords = part == nil ? [("type", JSONTree.text(type))] : []
            if !members.isEmpty {
                keywords.append(("properties", .object(members.map { ($0.key, $0.schema) })))
            }
            return .object(keywords)
        }
    }
}
