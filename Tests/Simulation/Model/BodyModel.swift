import Rehearsal

/// The expected body of a response, by the documented rules: parts in file order, under their names
/// or at the root, fallbacks of failed calls, and dropped collisions.
struct BodyModel {
    /// The result of one call.
    enum Part: Equatable {
        case value(Tree)
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

    init(_ calls: [DrawnCall], _ parts: [Part]) {
        for (call, part) in zip(calls, parts) {
            switch part {
            case .disabled: break
            case .failed: addFallback(of: call)
            case .value(let tree): add(tree, of: call)
            }
        }
    }

    var tree: Tree { .object(members) }

    private mutating func add(_ tree: Tree, of call: DrawnCall) {
        guard call.isAtRoot else { return add(call.name, tree, of: call) }
        if call.failsOnCollision, let key = firstCollision(with: tree) {
            failed.append((call, key))
            return addFallback(of: call)
        }
        merge(tree, of: call)
    }

    private func firstCollision(with tree: Tree) -> String? {
        guard case .object(let others) = tree else { return nil }
        return others.first { other in
            other.key == "_gateway"
                || !placeholders.contains(other.key) && members.contains { $0.key == other.key }
        }?.key
    }

    private mutating func merge(_ tree: Tree, of call: DrawnCall) {
        guard case .object(let others) = tree else { return }
        for member in others { add(member.key, member.value, of: call) }
    }

    private mutating func add(_ key: String, _ value: Tree, of call: DrawnCall) {
        if placeholders.remove(key) != nil { members.removeAll { $0.key == key } }
        if members.contains(where: { $0.key == key }) || key == "_gateway" {
            collisions.append((call.name, key))
        } else {
            members.append(Tree.Member(key: key, value: value))
        }
    }

    private mutating func addFallback(of call: DrawnCall) {
        switch call.ifFailed {
        case .omit: break
        case nil: if !call.isAtRoot { addPlaceholder(call.name) }
        case .value(let json):
            guard let tree = Tree(reading: Array(json.utf8)) else { return }
            switch (call.isAtRoot, tree) {
            case (true, _): merge(tree, of: call)
            case (false, .null): addPlaceholder(call.name)
            case (false, _): add(call.name, tree, of: call)
            }
        }
    }

    /// `null` of a failed call, which another value under its key replaces.
    private mutating func addPlaceholder(_ key: String) {
        guard !members.contains(where: { $0.key == key }) else { return }
        members.append(Tree.Member(key: key, value: .null))
        placeholders.insert(key)
    }
}
