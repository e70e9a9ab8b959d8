import Gateway
import YAMLReader

/// Converts what KrakenD adds to a merged response, or moves between its parts, to `respond`, and a list that
/// is appended to another one to `at: "list[]"`.
struct KrakenDRespond {
    private let endpoint: DocumentNode
    private let backends: [DocumentNode]
    /// The names of the calls.
    private let names: [String]
    private let keys: [String?]
    private var put: YAMLMembers = []
    private var drop: [String] = []
    /// The key of the list that gets the elements of a call, by the index of the call.
    private(set) var lists: [Int: String] = [:]
    /// The paths whose values are elsewhere now, and where.
    private var moved: [[String]] = []

    init(_ endpoint: DocumentNode, _ backends: [DocumentNode], _ names: [String]) {
        self.endpoint = endpoint
        self.backends = backends
        self.names = names
        keys = backends.map { KrakenDCallNames.key(of: $0) }
    }

    /// Nil if it adds and moves nothing.
    var tree: YAMLTree? {
        .inline(
            unlessEmpty: YAMLTree.members([
                ("put", .inline(unlessEmpty: put)), ("drop", .texts(unlessEmpty: drop)),
            ]))
    }

    /// False if it does not move or append a value from one part to another.
    mutating func apply(_ operation: KrakenDFlatmap.Operation) -> Bool {
        guard operation.arguments.count == 2, !follows(operation) else { return false }
        let (source, target) = (operation.arguments[0], operation.arguments[1])
        switch operation.type {
        case "move": return move(source, to: target)
        case "append": return append(source, to: target)
        default: return false
        }
    }

    /// Whether an operation uses a value that another one has moved.
    func follows(_ operation: KrakenDFlatmap.Operation) -> Bool {
        operation.arguments.contains { path in
            moved.contains { KrakenDFlatmap.overlap($0[...], path[...]) }
        }
    }

    /// `user.id` becomes the member `id`.
    private mutating func move(_ source: [String], to target: [String]) -> Bool {
        guard source.count > 1, source.allSatisfy(Self.isName), target.count == 1,
            Self.isName(target[0]), !keys.contains(target[0]),
            let index = call(with: source[0]), !KrakenDShape.isList(backends[index])
        else { return false }
        let inside = source.dropFirst().joined(separator: ".")
        put.append((target[0], .text("{\(names[index]).\(inside)}")))
        drop.append("\(names[index]).\(inside)")
        moved += [source, target]
        return true
    }

    /// The elements of one list of a backend follow the elements of another one.
    private mutating func append(_ source: [String], to target: [String]) -> Bool {
        guard source.count == 1, target.count == 1, let from = list(source[0]),
            let to = list(target[0]), to < from
        else { return false }
        lists[from] = target[0]
        lists[to] = target[0]
        moved += [source, target]
        return true
    }

    private func list(_ key: String) -> Int? {
        guard let index = call(with: key), backends[index]["group"]?.name == nil,
            KrakenDShape.isList(backends[index]), Self.isName(key)
        else { return nil }
        return index
    }

    /// The only backend with this key, unless it becomes no call.
    private func call(with key: String) -> Int? {
        guard keys.count(where: { $0 == key }) == 1, let index = keys.firstIndex(of: key),
            !KrakenDCall.isShadow(backends[index])
        else { return nil }
        return index
    }

    /// Static data that every response has.
    mutating func addStatic(_ data: DocumentNode, _ strategy: String, _ findings: ImportFindings) {
        for member in data["data"]?.members ?? [] {
            if let obstacle = Self.obstacle(to: member) {
                findings.warning(
                    at: member.keyLocation, "'\(member.key)' of 'static' is left out: \(obstacle)")
                continue
            }
            // KrakenD's static data replaces a member of that name.
            let key = call(with: member.key).map { names[$0] } ?? member.key
            if keys.contains(where: { $0 == nil || $0 == member.key }) {
                drop.append(KrakenDPath.keys([key]))
            }
            put.removeAll { $0.0 == member.key }
            put.append((member.key, .located(.constant(member.node), member.keyLocation)))
        }
        findings.warning(
            at: data.location,
            strategy == "always"
                ? "'static' became 'put': failed requests do not have it"
                : "'static' with the strategy '\(strategy)' became 'put', which partial responses have, too"
        )
    }

    private static func obstacle(to member: DocumentNode.Member) -> String? {
        if member.key.isEmpty || member.key.contains(where: { ".[".contains($0) }) {
            return "a name in 'put' is not empty and has no dots or brackets"
        }
        if member.key == "_gateway" { return "the key is reserved for the report" }
        // As `json` escapes it.
        return member.node.json.contains("$${") ? "it contains '${'" : nil
    }

    private static func isName(_ text: String) -> Bool {
        text.first?.isLetter == true && Config.Call.problem(withName: text) == nil
    }
}

extension YAMLTree {
    /// A value without references. The recursion is as deep as the document, which its reader bounds.
    fileprivate static func constant(_ node: DocumentNode) -> YAMLTree {
        switch node.content {
        case .mapping(let members): .inline(members.map { ($0.key, constant($0.node)) })
        case .sequence(let nodes): .list(nodes.map(constant))
        case .scalar:
            node.text.map { text in
                // Only a text with a `{` is read as one with references.
                .text(
                    text.contains("{")
                        ? text.replacing("{", with: "{{").replacing("}", with: "}}") : text)
            } ?? .plain(node.json)
        }
    }
}
