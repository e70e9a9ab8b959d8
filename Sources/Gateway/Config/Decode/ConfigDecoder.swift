import YAMLReader

/// Turns the tree of a document into blocks, strictly, and collects every problem on the way.
///
/// Tables of `BlockKey` say which keys there are; this says what holds for all of them: unknown and
/// duplicate keys, missing ones, `${...}`. A value that is wrong is reported and left out.
struct ConfigDecoder {
    var problems: Problems
    let expansion: Expansion

    /// The block that is being read, for problems: `call 'reviews'`; empty for the file itself.
    private var scope = ""

    /// The key whose value is being read.
    private var key = ""

    init(expansion: Expansion, problems: Problems) {
        self.expansion = expansion
        self.problems = problems
    }

    // MARK: Problems

    /// Reports what is wrong with the value at hand; `words` go on after its key: `must be ...`.
    mutating func fail(_ place: Place, _ words: String) {
        problems.error(at: place, "'\(key)'\(inScope) \(words)")
    }

    private var inScope: String { scope.isEmpty ? "" : " in \(scope)" }

    // MARK: Blocks

    /// Reads the keys of a mapping into `block`; `scope` is what problems call it.
    mutating func decode<Block: ConfigBlock>(
        _ node: DocumentNode, into block: inout Block, scope: String
    ) {
        guard case .mapping(let members) = node.content else {
            let what = scope.isEmpty ? "the file" : scope
            problems.error(at: node.place, "\(what) must be a mapping of keys to values")
            return
        }
        let outer = (self.scope, key)
        self.scope = scope
        decodeMembers(members, into: &block)
        reportMissing(of: Block.self, among: members, at: node.place)
        (self.scope, key) = outer
    }

    private mutating func decodeMembers<Block: ConfigBlock>(
        _ members: [DocumentNode.Member], into block: inout Block
    ) {
        let keys = Block.keys
        for member in withoutDuplicates(members) {
            key = member.key
            if let known = keys.first(where: { $0.name == member.key }) {
                known.decode(member, &block, &self)
            } else {
                let near = Suggestion.words(for: member.key, among: keys.map(\.name))
                problems.error(at: member.keyPlace, "unknown key '\(member.key)'\(inScope)\(near)")
            }
        }
    }

    private mutating func reportMissing<Block: ConfigBlock>(
        of _: Block.Type, among members: [DocumentNode.Member], at place: Place
    ) {
        let written = members.map(\.key)
        for key in Block.keys where key.schema.isRequired && !written.contains(key.name) {
            problems.error(at: place, "the key '\(key.name)' is missing\(inScope)")
        }
        for group in Block.alternatives {
            let chosen = members.filter { group.contains($0.key) }
            if chosen.isEmpty {
                problems.error(
                    at: place, "one of the keys \(group.spoken(or: "or")) is missing\(inScope)")
            }
            for extra in chosen.dropFirst() where extra.key != chosen[0].key {
                problems.error(
                    at: extra.keyPlace,
                    "'\(extra.key)' and '\(chosen[0].key)' exclude each other\(inScope)")
            }
        }
    }

    /// The first of every key; the others are reported.
    mutating func withoutDuplicates(_ members: [DocumentNode.Member]) -> [DocumentNode.Member] {
        var lines: [String: Int] = [:]
        return members.filter { member in
            guard let line = lines[member.key] else {
                lines[member.key] = member.keyPlace.line
                return true
            }
            problems.error(
                at: member.keyPlace,
                "duplicate key '\(member.key)'\(inScope), first seen in line \(line)")
            return false
        }
    }

    /// What problems call a block under the key at hand: `hedge of call 'reviews'`.
    var innerScope: String { scope.isEmpty ? "'\(key)'" : "'\(key)' of \(scope)" }

    // MARK: Scalars

    /// The scalar of a node after expansion; nil if there is none, which is then reported.
    mutating func scalar(
        _ node: DocumentNode, expected words: String, bracesAreLiteral: Bool = false
    ) -> ReadScalar? {
        guard case .scalar(let scalar) = node.content else {
            fail(node.place, words + quotingHint(node))
            return nil
        }
        do {
            let expanded = try expansion.expand(
                scalar.text, in: node.place.file, doublesBraces: bracesAreLiteral)
            return ReadScalar(written: scalar, expanded: expanded, place: node.place)
        } catch {
            problems.error(at: node.place, error.text)
            return nil
        }
    }

    /// A text that begins with a reference or an IPv6 address, read as YAML's own `{` or `[`.
    private func quotingHint(_ node: DocumentNode) -> String {
        switch node.content {
        case .mapping(let members)
        where members.count == 1 && members[0].node.content == .scalar(.empty(after: members[0])):
            "; quote \"{\(members[0].key)}\" if it is a reference"
        default: ""
        }
    }
}

extension DocumentNode.Scalar {
    /// What stands after a key without a value.
    fileprivate static func empty(after member: DocumentNode.Member) -> Self {
        Self(text: "", isPlain: true, textStart: member.node.place)
    }
}

extension [String] {
    /// `a, b or c`
    func spoken(or word: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " \(word) \(last)"
    }
}
