import Gateway
import YAMLReader

/// Converts deletions and moves in a response, in KrakenD's order, to `drop` and `rename`, whose
/// paths use the names of the source.
///
/// An endpoint is left out if a deletion cannot be expressed, because clients would see values that
/// they must not see; a move that cannot be expressed is only reported.
struct KrakenDFlatmap {
    private(set) var drops: [[String]] = []
    private(set) var renames: [Rename] = []

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
        /// Split at the dots.
        var arguments: [[String]]
        let location: SourceLocation

        /// Nil if the node is not an operation; KrakenD ignores it.
        init?(_ node: DocumentNode) {
            guard let type = node["type"]?.text else { return nil }
            self.type = type
            location = node.location
            arguments = (node["args"]?.texts ?? []).map { path in
                path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            }
        }

        static func all(of node: DocumentNode) -> [Operation] {
            (node["extra_config"]?["proxy"]?["flatmap_filter"]?.elements ?? [])
                .compactMap(Operation.init)
        }

        /// The response that an operation changes.
        enum Owner {
            /// Nil for those without a key, which are merged into the root.
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
                var one = self
                one.arguments = [argument]
                return (one, .key(owner))
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

    /// `deny`
    mutating func drop(_ path: [String]) {
        drops.append(path)
    }

    /// `mapping`
    mutating func rename(_ path: [String], to name: String) {
        renames.append(Rename(path: path, name: name))
    }

    mutating func apply(
        _ operation: Operation, _ findings: inout ImportFindings
    ) throws(Refusal) {
        switch (operation.type, operation.arguments.count) {
        case ("del", _):
            for path in operation.arguments { try delete(path, operation) }
        case ("move", 2):
            if !move(operation.arguments[0], to: operation.arguments[1]) {
                reportLoss(of: operation, &findings)
            }
        default: reportLoss(of: operation, &findings)
        }
    }

    private mutating func reportLoss(of operation: Operation, _ findings: inout ImportFindings) {
        let paths = operation.arguments.map { $0.joined(separator: ".") }
        findings.warning(
            at: operation.location,
            "'\(operation.type)' of \(paths.joined(separator: " to ")) is left out: 'drop' removes"
                + " and 'rename' renames within the same object; values cannot be moved elsewhere")
        unknown += operation.arguments
    }

    private mutating func delete(_ path: [String], _ operation: Operation) throws(Refusal) {
        let subject = "its 'del' of \(path.joined(separator: "."))"
        guard !unknown.contains(where: { Self.overlap($0, path) }) else {
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

    private mutating func move(_ path: [String], to target: [String]) -> Bool {
        guard path.count == target.count, path.dropLast() == target.dropLast(),
            let last = path.last, let name = target.last,
            ![last, name].contains(where: { $0 == "*" || KrakenDPath.isIndex($0) }),
            !unknown.contains(where: { Self.overlap($0, path) || Self.overlap($0, target) })
        else { return false }
        switch source(of: path) {
        case .gone: return true
        case .unclear: return false
        case .known(let path):
            if let index = renames.firstIndex(where: { $0.path == path }) {
                renames[index].name = name
            } else {
                renames.append(Rename(path: path, name: name))
            }
            return true
        }
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
            let siblings = renames.filter { Self.match($0.path.dropLast(), found[...]) }
            let touched = siblings.filter {
                $0.name == step || $0.path.last == step || step == "*"
            }
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

    /// Whether one path is equal to the other, or a prefix of it.
    static func overlap(_ one: [String], _ other: [String]) -> Bool {
        zip(one, other).allSatisfy { $0 == $1 || $0 == "*" || $1 == "*" }
    }

    /// Whether two paths of the same length may select the same value.
    private static func match(_ one: ArraySlice<String>, _ other: ArraySlice<String>) -> Bool {
        one.count == other.count
            && zip(one, other).allSatisfy { $0 == $1 || $0 == "*" || $1 == "*" }
    }
}
