import Gateway
import YAMLReader

/// Converts KrakenD's transformations of a response to `take`, `keep`, `drop` and `rename`.
///
/// KrakenD applies `target`, `allow` or `deny`, `mapping` and `group` in the same order as the
/// gateway; a flatmap filter replaces all but `target` and `group`.
struct KrakenDShape {
    private let node: DocumentNode
    private var take: String?
    private var keep: [String] = []
    private var flatmap = KrakenDFlatmap()

    /// KrakenD wraps a list as `{"collection": [...]}`; here the list itself is the value.
    private let isList: Bool

    init(_ node: DocumentNode, _ findings: ImportFindings) throws(Refusal) {
        self.node = node
        isList = Self.isList(node)
        if let target = node["target"], let path = target.name {
            if isList {
                findings.warning(
                    at: target.location,
                    "'target' is left out: for a list KrakenD responds with an empty object")
            } else {
                take = KrakenDPath.keys(path.steps)
            }
        }
        let operations = KrakenDFlatmap.Operation.all(of: node)
        if !operations.isEmpty {
            reportIgnored("KrakenD ignores it with 'flatmap_filter'", findings)
            for operation in operations { try apply(operation, findings) }
        } else if isList {
            reportIgnored(
                "KrakenD ignores it for a list; 'keep: [\"[].id\"]' selects members of its elements",
                findings)
        } else {
            filter()
        }
    }

    static func isList(_ node: DocumentNode) -> Bool {
        // Only a list has another name; 'safejson' detects lists.
        node.has("is_collection") || node["encoding"]?.text == "safejson" && nameOfList(node) != nil
    }

    /// The key of a backend's list in KrakenD's response, if not `collection`.
    static func nameOfList(_ node: DocumentNode) -> String? {
        let operations = KrakenDFlatmap.Operation.all(of: node)
        guard operations.isEmpty else { return operations.compactMap(\.nameOfList).first }
        return node["mapping"]?["collection"]?.text?.steps[0]
    }

    private mutating func filter() {
        keep = (node["allow"]?.texts ?? []).map { KrakenDPath.keys($0.steps) }
        if keep.isEmpty { flatmap.drops = (node["deny"]?.texts ?? []).map(\.steps) }
        flatmap.renames = (node["mapping"]?.members ?? []).compactMap { member in
            // KrakenD truncates the new name at its first dot.
            member.node.text.map { .init(path: [member.key], name: $0.steps[0]) }
        }
    }

    private func reportIgnored(_ reason: String, _ findings: ImportFindings) {
        for key in ["allow", "deny", "mapping"] {
            guard let ignored = node[key], ignored.members.count + ignored.elements.count > 0,
                key != "mapping" || ignored["collection"] == nil || ignored.members.count > 1
            else { continue }
            findings.note(at: ignored.location, "'\(key)' is left out: \(reason)")
        }
    }

    /// Applies an operation of a flatmap filter, of the backend or, after it, of the endpoint.
    mutating func apply(
        _ operation: KrakenDFlatmap.Operation, _ findings: ImportFindings
    ) throws(Refusal) {
        guard isList else { return try flatmap.apply(operation, findings) }
        if operation.nameOfList != nil { return }
        let name = Self.nameOfList(node) ?? "collection"
        var inside = operation
        inside.arguments = operation.arguments.map { path in
            [name, "collection"].contains(path.first) ? Array(path.dropFirst()) : path
        }
        guard inside.arguments.allSatisfy({ KrakenDPath.isElement($0.first ?? "") }) else {
            throw Refusal(
                "its '\(operation.type)' does not select elements of the list '\(name)'",
                at: operation.location)
        }
        try flatmap.apply(inside, findings)
    }

    var members: [(String, YAMLTree?)] {
        // In `deny` and `mapping`, `*` and `0` are keys like any other.
        let hasElements = isList || !KrakenDFlatmap.Operation.all(of: node).isEmpty
        let spelled = hasElements ? KrakenDPath.elements : KrakenDPath.keys
        let drops = flatmap.drops.map(spelled)
        let renames = flatmap.renames.map { (spelled($0.path), YAMLTree.text($0.name)) }
        return [
            ("take", take.map(YAMLTree.text), "target"),
            ("keep", .texts(unlessEmpty: keep), "allow"),
            ("drop", .texts(unlessEmpty: drops), "deny"),
            ("rename", .inline(unlessEmpty: renames), "mapping"),
        ].map { key, tree, source in
            (key, tree.map { tree in node[source].map { .located(tree, $0.location) } ?? tree })
        }
    }
}

/// Converts deletions and moves in a response, in KrakenD's order, to `drop` and `rename`, whose
/// paths use the names of the source.
///
/// An endpoint is left out if a deletion cannot be expressed, because clients would see values that
/// they must not see; a move that cannot be expressed is only reported.
struct KrakenDFlatmap {
    var drops: [[String]] = []
    var renames: [Rename] = []

    /// The paths of operations that were left out, whose content is unknown.
    private var unknown: [[String]] = []

    struct Rename {
        /// In the names of the source.
        let path: [String]
        var name: String
    }

    /// One operation of a `flatmap_filter`.
    struct Operation {
        let type: String
        var arguments: [[String]]
        let location: SourceLocation

        static func all(of node: DocumentNode) -> [Operation] {
            (node.extra("proxy")?.node["flatmap_filter"]?.elements ?? []).compactMap { node in
                // KrakenD ignores one without a type.
                guard let type = node["type"]?.text else { return nil }
                let paths = (node["args"]?.texts ?? []).map(\.steps)
                return Operation(type: type, arguments: paths, location: node.location)
            }
        }

        /// The response that an operation changes.
        enum Owner {
            /// Nil for responses without a key, which are merged into the root.
            case key(String?)
            case several
        }

        /// The operation for each response that it changes.
        func parts(by keys: [String?]) -> [(operation: Operation, owner: Owner)] {
            let owners = arguments.map { path in keys.contains(path.first) ? path.first : nil }
            if let owner = owners.first, owners.allSatisfy({ $0 == owner }) {
                return [(self, .key(owner))]
            }
            guard type == "del" else { return [(self, .several)] }
            return zip(arguments, owners).map { argument, owner in
                (Operation(type: type, arguments: [argument], location: location), .key(owner))
            }
        }

        /// `move collection -> posts`: the name for a list of a backend.
        var nameOfList: String? {
            guard type == "move", arguments.count == 2, arguments[0] == ["collection"],
                arguments[1].count == 1
            else { return nil }
            return arguments[1][0]
        }
    }

    mutating func apply(_ operation: Operation, _ findings: ImportFindings) throws(Refusal) {
        let paths = operation.arguments
        if operation.type == "del" {
            for path in paths { try delete(path, operation) }
        } else if operation.type != "move" || paths.count != 2 || !move(paths[0], to: paths[1]) {
            let names = paths.map { $0.joined(separator: ".") }.joined(separator: " to ")
            findings.warning(
                at: operation.location,
                "'\(operation.type)' of \(names) is left out: 'drop' removes and 'rename' renames"
                    + " within the same object; values cannot be moved elsewhere")
            unknown += paths
        }
    }

    private mutating func delete(_ path: [String], _ operation: Operation) throws(Refusal) {
        let subject = "its 'del' of \(path.joined(separator: "."))"
        guard !unknown.contains(where: { Self.overlap($0[...], path[...]) }) else {
            throw Refusal(
                "\(subject) follows an operation that is left out, so clients would see what it deletes",
                at: operation.location)
        }
        switch source(of: path) {
        case .known(let path): drops.append(path)
        case .gone: break
        case .unclear:
            throw Refusal("\(subject) cannot be expressed with 'drop'", at: operation.location)
        }
    }

    /// False if `rename` cannot express it.
    private mutating func move(_ path: [String], to target: [String]) -> Bool {
        guard path.count == target.count, path.dropLast() == target.dropLast(),
            let last = path.last, let name = target.last,
            ![last, name].contains(where: KrakenDPath.isElement),
            !unknown.contains(where: {
                Self.overlap($0[...], path[...]) || Self.overlap($0[...], target[...])
            })
        else { return false }
        switch source(of: path) {
        case .gone: break
        case .unclear: return false
        case .known(let path):
            if let index = renames.firstIndex(where: { $0.path == path }) {
                renames[index].name = name
            } else {
                renames.append(Rename(path: path, name: name))
            }
        }
        return true
    }

    // MARK: Names of the source

    private enum Source {
        case known([String])
        /// Renamed or deleted before, so that the path is empty now.
        case gone
        /// Only a part of what the path selects was renamed.
        case unclear
    }

    /// The path in the source, before the renames so far.
    private func source(of path: [String]) -> Source {
        var found: [String] = []
        for step in path {
            let siblings = renames.filter {
                $0.path.count == found.count + 1 && Self.overlap($0.path.dropLast(), found[...])
            }
            let touched = siblings.filter { $0.name == step || $0.path.last == step || step == "*" }
            if touched.contains(where: { Array($0.path.dropLast()) != found }) { return .unclear }
            if step == "*" {
                found.append(step)
            } else if let rename = siblings.first(where: { $0.name == step }) {
                found = rename.path
            } else if siblings.contains(where: { $0.path.last == step }) {
                return .gone
            } else {
                found.append(step)
            }
        }
        return drops.contains { found.starts(with: $0) } ? .gone : .known(found)
    }

    /// Whether one path may select the same value as the other, or a value inside it.
    static func overlap(_ one: ArraySlice<String>, _ other: ArraySlice<String>) -> Bool {
        zip(one, other).allSatisfy { $0 == $1 || $0 == "*" || $1 == "*" }
    }
}

/// Writes paths of KrakenD as paths of the gateway.
enum KrakenDPath {
    /// A path in `allow`, `deny` or `target`: keys only, even if they contain brackets or are
    /// empty.
    static func keys(_ steps: [String]) -> String { steps.map(key).joined(separator: ".") }

    /// A path in a flatmap filter: `*` selects every element, a number one of them.
    static func elements(_ steps: [String]) -> String {
        steps.reduce("") { path, step in
            if isElement(step) { return path + (step == "*" ? "[]" : "[\(step)]") }
            return path.isEmpty ? key(step) : path + "." + key(step)
        }
    }

    static func isElement(_ step: String) -> Bool {
        step == "*" || !step.isEmpty && step.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The key, quoted if it would be parsed differently otherwise.
    private static func key(_ key: String) -> String {
        guard key.isEmpty || key.contains(where: { ".[]\"".contains($0) }) else { return key }
        let escaped = key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}

extension String {
    /// The keys of a KrakenD path, which dots separate.
    var steps: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}
