import Rehearsal

/// The expected body of a response, by the documented rules: parts in file order, under their names
/// or at the root, fallbacks of failed calls, and dropped collisions.
struct BodyModel {
    /// The result of one call.
    enum Part: Equatable {
        case value(Tree)
        /// A list of which some elements failed.
        case partial(Tree)
        /// A list without enough values, with the fallbacks of its elements.
        case lost(Tree)
        case failed
        /// Its `when` is false.
        case disabled
    }

    private(set) var members: [Tree.Member] = []
    /// The keys of members that are the `null` of a failed call.
    private var placeholders: Set<String> = []
    /// Members that were dropped because an earlier call has the key.
    private(set) var collisions: [(call: String, key: String)] = []
    /// Calls that failed by a collision, because of `on_collision: fail`.
    private(set) var failed: [(call: DrawnCall, key: String)] = []

    /// The paths of such members below the root.
    private var innerPlaceholders: [[String]] = []

    init(_ calls: [DrawnCall], _ parts: [Part]) {
        for (call, part) in zip(calls, parts) { addAtRoot(call, part) }
        for (call, part) in zip(calls, parts) { addBelowRoot(call, part) }
    }

    var tree: Tree { .object(members) }

    /// What a call contributes; nil for nothing.
    private func contribution(of call: DrawnCall, _ part: Part) -> (tree: Tree, isPart: Bool)? {
        switch (part, call.ifFailed) {
        case (.disabled, _): nil
        case (.failed, .omit): if case .array = call.place { (.array([]), false) } else { nil }
        case (.value(let tree), _), (.partial(let tree), _): (tree, true)
        case (.lost(let tree), _): (tree, false)
        case (.failed, nil): (.null, false)
        case (.failed, .value(let json)): Tree(reading: Array(json.utf8)).map { ($0, false) }
        }
    }

    // MARK: The root

    /// A path begins with a placeholder.
    private mutating func addAtRoot(_ call: DrawnCall, _ part: Part) {
        guard let (tree, isPart) = contribution(of: call, part) else { return }
        switch call.place {
        case .none: break
        case .root: merge(tree, of: call, isPart)
        case .member(let keys) where keys.count == 1:
            if !isPart, tree == .null { return addPlaceholder(keys[0]) }
            if isPart, call.failsOnCollision, isTaken(keys[0]) {
                failed.append((call, keys[0]))
            } else {
                add(keys[0], tree, of: call)
            }
        case .member(let keys), .array(let keys): addPlaceholder(keys[0])
        }
    }

    private func isTaken(_ key: String) -> Bool {
        key == "_gateway" || !placeholders.contains(key) && members.contains { $0.key == key }
    }

    private mutating func merge(_ tree: Tree, of call: DrawnCall, _ isPart: Bool) {
        guard case .object(let others) = tree else { return }
        if isPart, call.failsOnCollision, let key = others.first(where: { isTaken($0.key) })?.key {
            failed.append((call, key))
            if let (fallback, _) = contribution(of: call, .failed) {
                merge(fallback, of: call, false)
            }
        } else {
            for member in others { add(member.key, member.value, of: call) }
        }
    }

    private mutating func add(_ key: String, _ value: Tree, of call: DrawnCall) {
        guard !isTaken(key) else { return collisions.append((call.name, key)) }
        if placeholders.remove(key) != nil { members.removeAll { $0.key == key } }
        members.append(Tree.Member(key: key, value: value))
    }

    /// `null` of a failed call, which another value under its key replaces.
    private mutating func addPlaceholder(_ key: String) {
        guard !members.contains(where: { $0.key == key }) else { return }
        members.append(Tree.Member(key: key, value: .null))
        placeholders.insert(key)
    }

    // MARK: Below the root

    private mutating func addBelowRoot(_ call: DrawnCall, _ part: Part) {
        guard let (tree, isPart) = contribution(of: call, part) else { return }
        switch call.place {
        case .none, .root: break
        case .array(let keys):
            let former = self.tree.value(at: keys)?.elements ?? []
            members = self.tree.setting(keys, .array(former + (tree.elements ?? []))).members
        case .member(let keys) where keys.count > 1:
            let isPlaceholder = innerPlaceholders.contains(keys)
            if self.tree.value(at: keys) != nil, !isPlaceholder {
                if !isPart, tree == .null { return }
                if isPart, call.failsOnCollision {
                    failed.append((call, keys[keys.count - 1]))
                } else {
                    collisions.append((call.name, keys[keys.count - 1]))
                }
                return
            }
            if !isPart, tree == .null {
                innerPlaceholders.append(keys)
            } else {
                innerPlaceholders.removeAll { $0 == keys }
            }
            members = self.tree.setting(keys, tree).members
        case .member: break
        }
    }
}

extension Tree {
    fileprivate func value(at keys: [String]) -> Tree? {
        keys.reduce(self) { tree, key in tree.flatMap { $0[key] } }
    }

    /// The document with a value under these keys, at its place or at the end. The recursion is as deep as the
    /// path.
    fileprivate func setting(_ keys: [String], _ value: Tree) -> Tree {
        guard let key = keys.first else { return value }
        var members: [Member] = if case .object(let members) = self { members } else { [] }
        let inner = (self[key] ?? .null).setting(Array(keys.dropFirst()), value)
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].value = inner
        } else {
            members.append(Member(key: key, value: inner))
        }
        return .object(members)
    }
}
