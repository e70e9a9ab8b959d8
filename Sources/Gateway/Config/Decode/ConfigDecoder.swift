import YAMLReader

/// Decodes the tree of a document into blocks, strictly, and collects all problems.
///
/// Tables of `BlockKey` define the keys; the decoder handles what is common to all of them:
/// unknown, duplicate and missing keys, and `${...}`. An invalid value is reported and left out.
struct ConfigDecoder {
    var problems: Problems
    let expansion: Expansion

    /// The block that is being read, for messages: `call 'reviews'`; empty for the file itself.
    private var scope = ""

    /// The key whose value is being read.
    private var key = ""

    /// The block that contains the key.
    private var block: SourceLocation?

    /// The keys whose values could not be read, so that checks do not report them as missing too.
    private(set) var unread = UnreadKeys()

    init(expansion: Expansion, problems: Problems) {
        self.expansion = expansion
        self.problems = problems
    }

    // MARK: Problems

    /// Reports an error in the value of the current key; `message` continue after the key: `must be
    /// ...`.
    mutating func fail(_ location: SourceLocation, _ message: String) {
        problems.error(at: location, "'\(key)'\(inScope) \(message)")
        if let block { unread.insert(key, of: block) }
    }

    /// Reports why a scalar is refused, without values from variables and secret files.
    mutating func refuse(_ scalar: ExpandedScalar, _ refusal: Refusal) {
        let message =
            scalar.isExpanded
            ? refusal.text.quoting(written: scalar.written) : refusal.message
        fail(refusal.location ?? scalar.location, message + LookAlikes.note(on: scalar.written))
    }

    private var inScope: String { scope.isEmpty ? "" : " in \(scope)" }

    /// Records that a value is missing for a reason that is reported elsewhere.
    mutating func markUnread(_ key: String, of block: SourceLocation) {
        unread.insert(key, of: block)
    }

    /// Warns of a file that every user may change: its writer decides where requests are sent and who
    /// may send them, and can read every secret.
    ///
    /// - Parameter title: the name of the file in messages; nil if it is the path
    mutating func warnIfWorldWritable(_ path: String, title: String? = nil) {
        guard expansion.files.isWorldWritable(path) else { return }
        let title = title ?? path
        problems.warning(
            at: SourceLocation(file: title),
            "every user of this system can write this file; run: chmod o-w \(title)")
    }

    // MARK: Blocks

    /// Reads the keys of a mapping into `block`; `scope` is its name in messages. False if the node
    /// is not a mapping.
    @discardableResult
    mutating func decode<Block: ConfigBlock>(
        _ node: DocumentNode, into block: inout Block, scope: String
    ) -> Bool {
        guard case .mapping(let members) = node.content else {
            let what = scope.isEmpty ? "the file" : scope
            problems.error(
                at: node.location,
                "\(what) must be a mapping of keys to values\(Self.list(of: Block.keys))")
            return false
        }
        let outer = (self.scope, key, self.block)
        self.scope = scope
        self.block = node.location
        let meant = decodeMembers(members, into: &block)
        let written = members.map(\.key) + meant
        for key in Block.keys where key.schema.isRequired && !written.contains(key.name) {
            problems.error(
                at: node.location,
                "the key '\(key.name)' is missing\(inScope)\(key.schema.value.hint(for: key.name))")
        }
        for group in Block.alternatives {
            let present = members.map(\.key)
            let companion = Block.companion.flatMap { present.contains($0.of) ? $0.key : nil }
            checkAlternatives(
                group.filter { $0 != companion }, among: members, meant: meant, at: node.location)
        }
        (self.scope, key, self.block) = outer
        return true
    }

    /// Returns the known keys that unknown keys probably meant, so that they are not reported as
    /// missing too.
    private mutating func decodeMembers<Block: ConfigBlock>(
        _ members: [DocumentNode.Member], into block: inout Block
    ) -> [String] {
        let keys = Block.keys
        var meant: [String] = []
        for member in withoutDuplicates(members) {
            key = member.key
            let known = keys.first { $0.name == member.key }
            let misspelt = known.flatMap { meantKey(for: member, of: $0, among: keys, members) }
            if let known, misspelt == nil {
                known.decode(member, &block, &self)
            } else {
                let near =
                    misspelt ?? Suggestion.nearest(to: member.key, among: keys.map(\.name))
                let hint = near.map { " - did you mean '\($0)'?" } ?? Self.list(of: keys)
                problems.error(
                    at: member.keyLocation, "unknown key '\(member.key)'\(inScope)\(hint)")
                meant += near.map { [$0] } ?? []
                if let near, let location = self.block { unread.insert(near, of: location) }
            }
        }
        return meant
    }

    /// The missing key that a scalar is meant for whose own key needs a mapping: `form: users` for `from`.
    private func meantKey<Block: ConfigBlock>(
        for member: DocumentNode.Member, of known: BlockKey<Block>,
        among keys: [BlockKey<Block>], _ members: [DocumentNode.Member]
    ) -> String? {
        guard case .scalar = member.node.content, case .map = known.schema.value else { return nil }
        let missing = keys.filter { key in
            key.schema.isRequired && !members.contains { $0.key == key.name }
        }
        return Suggestion.nearest(to: member.key, among: missing.map(\.name))
    }

    /// The known keys, if the list is short enough for a message.
    private static func list<Block: ConfigBlock>(of keys: [BlockKey<Block>]) -> String {
        keys.count > 10 ? "" : " (keys here: \(keys.map(\.name).joined(separator: ", ")))"
    }

    private mutating func checkAlternatives(
        _ group: [String], among members: [DocumentNode.Member], meant: [String],
        at location: SourceLocation
    ) {
        let chosen = members.filter { group.contains($0.key) }
        guard let first = chosen.first else {
            guard !meant.contains(where: group.contains) else { return }
            problems.error(
                at: location,
                "one of the keys \(group.map { "'\($0)'" }.joined(with: "or")) is missing\(inScope)"
            )
            return
        }
        for extra in chosen.dropFirst() where extra.key != first.key {
            problems.error(
                at: extra.keyLocation,
                "'\(extra.key)' and '\(first.key)' exclude each other\(inScope)")
        }
    }

    /// The first member of every key; later ones are reported.
    mutating func withoutDuplicates(_ members: [DocumentNode.Member]) -> [DocumentNode.Member] {
        var lines: [String: Int] = [:]
        return members.filter { member in
            guard let line = lines[member.key] else {
                lines[member.key] = member.keyLocation.line
                return true
            }
            problems.error(
                at: member.keyLocation,
                "duplicate key '\(member.key)'\(inScope), first seen in line \(line)")
            return false
        }
    }

    /// The name in messages of a block under the current key: `hedge of call 'reviews'`.
    var innerScope: String { scope.isEmpty ? "'\(key)'" : "'\(key)' of \(scope)" }

    // MARK: Scalars

    /// The scalar of a node after expansion; nil if the node is not a scalar, which is reported.
    mutating func scalar(
        _ node: DocumentNode, expected message: String, bracesAreLiteral: Bool = false
    ) -> ExpandedScalar? {
        guard case .scalar(let scalar) = node.content else {
            fail(node.location, message + quotingHint(node))
            return nil
        }
        do {
            let expanded = try expansion.expand(
                scalar.text, in: node.location.file, doublesBraces: bracesAreLiteral)
            return ExpandedScalar(written: scalar, expanded: expanded, location: node.location)
        } catch {
            problems.error(at: node.location, error.text)
            if let block { unread.insert(key, of: block) }
            return nil
        }
    }

    /// A hint for a text that begins with a reference, whose `{` YAML reads as a mapping.
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
    /// The empty scalar after a key without a value.
    fileprivate static func empty(after member: DocumentNode.Member) -> Self {
        Self(text: "", isPlain: true, textStart: member.node.location)
    }
}

extension [String] {
    /// `a, b or c`
    ///
    /// Every start makes such texts. The library's `joined` finds its types at run time, for which it reads
    /// all conformances of the program.
    func joined(with word: String) -> String {
        guard let last, var text = first, count > 1 else { return first ?? "" }
        for name in self[1..<count - 1] { text += ", " + name }
        return text + " \(word) \(last)"
    }
}
