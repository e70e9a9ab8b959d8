import Rehearsal

/// `take`, `keep`, `drop` and `rename` of a call, applied to trees in this order.
struct DrawnShape {
    var take: String?
    var keep: [String]?
    var drop: [String] = []
    var rename: [(path: String, name: String)] = []
    var usesCamelCase = false

    init(_ keys: Tree) {
        take = keys[text: "take"]
        keep = keys["keep"].map { _ in keys[texts: "keep"] }
        drop = keys[texts: "drop"]
        let names = keys["rename"]?.members ?? []
        rename = names.filter { $0.key != "*" }.map { ($0.key, $0.value.plain) }
        usesCamelCase = names.count > rename.count
    }

    /// The shaped tree; nil if `take` finds nothing.
    func applied(to tree: Tree) -> Tree? {
        guard var tree = take.map({ tree.value(at: TreePath($0)) }) ?? tree else { return nil }
        if let keep { tree = tree.keeping(keep.map { TreePath($0) }) ?? .null }
        // All paths use the names of the source, so renames come last.
        for path in drop { tree = tree.dropping(TreePath(path)) }
        for (path, name) in rename { tree = tree.renaming(TreePath(path), to: name) }
        return usesCamelCase ? tree.inCamelCase(except: rename.map(\.name)) : tree
    }
}

/// `items[].price` as steps; nil means every element.
struct TreePath: Equatable {
    var steps: ArraySlice<String?>

    init(_ text: String) {
        var steps: [String?] = []
        for piece in text.split(separator: ".") {
            if piece.hasSuffix("[]") {
                if piece.count > 2 { steps.append(String(piece.dropLast(2))) }
                steps.append(nil)
            } else {
                steps.append(String(piece))
            }
        }
        self.steps = steps[...]
    }

    fileprivate init(_ steps: ArraySlice<String?>) { self.steps = steps }

    var rest: TreePath { TreePath(steps.dropFirst()) }
}

extension Tree {
    /// The value at a path. Drawn paths of `take` contain no array.
    func value(at path: TreePath) -> Tree? {
        guard let step = path.steps.first else { return self }
        guard let key = step else { return nil }
        return self[key]?.value(at: path.rest)
    }

    /// The value with only these paths; nil if nothing of it is kept.
    fileprivate func keeping(_ paths: [TreePath]) -> Tree? {
        if paths.contains(where: { $0.steps.isEmpty }) { return self }
        switch self {
        case .scalar: return nil
        case .array(let elements):
            let inside = paths.filter { $0.steps.first == .some(nil) }.map(\.rest)
            return inside.isEmpty ? nil : .array(elements.compactMap { $0.keeping(inside) })
        case .object(let members):
            guard paths.contains(where: { $0.steps.first != .some(nil) }) else { return nil }
            return .object(
                members.compactMap { member in
                    let inside = paths.filter { $0.steps.first == .some(member.key) }.map(\.rest)
                    guard !inside.isEmpty else { return nil }
                    return member.value.keeping(inside).map { Member(key: member.key, value: $0) }
                })
        }
    }

    func dropping(_ path: TreePath) -> Tree {
        changing(path) { _ in nil }
    }

    fileprivate func renaming(_ path: TreePath, to name: String) -> Tree {
        changing(path) { Member(key: name, value: $0.value) }
    }

    /// The drawn names have at most one underscore, and none becomes equal to another.
    fileprivate func inCamelCase(except names: [String]) -> Tree {
        switch self {
        case .scalar: return self
        case .array(let elements): return .array(elements.map { $0.inCamelCase(except: names) })
        case .object(let members):
            return .object(
                members.map { member in
                    let words = member.key.split(separator: "_", maxSplits: 1)
                    let isFinal = words.count < 2 || names.contains(member.key)
                    return Member(
                        key: isFinal
                            ? member.key
                            : String(words[0]) + words[1].prefix(1).uppercased()
                                + words[1].dropFirst(),
                        value: member.value.inCamelCase(except: names))
                })
        }
    }

    /// Changes the members at the end of a path; nil removes a member.
    private func changing(_ path: TreePath, _ change: (Member) -> Member?) -> Tree {
        switch (self, path.steps.first) {
        case (.array(let elements), .some(nil)):
            return .array(elements.map { $0.changing(path.rest, change) })
        case (.object(let members), .some(let key?)):
            return .object(
                members.compactMap { member in
                    guard member.key == key else { return member }
                    if path.steps.count == 1 { return change(member) }
                    return Member(
                        key: key, value: member.value.changing(path.rest, change))
                })
        default: return self
        }
    }
}
