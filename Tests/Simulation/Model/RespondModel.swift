import Rehearsal

/// What `respond` makes of the parts of the calls, by the documented rules.
struct RespondModel {
    private let keys: Tree
    /// The values of the calls by name, without those that failed.
    private let values: [String: Tree]

    /// - Parameter keys: of the block; nil without it
    init?(_ keys: Tree?, _ calls: [DrawnCall], _ parts: [BodyModel.Part], failed: [DrawnCall]) {
        guard let keys else { return nil }
        self.keys = keys
        var values: [String: Tree] = [:]
        for (call, part) in zip(calls, parts) {
            // No drawn value uses a list.
            guard case .value(let tree) = part, !failed.contains(where: { $0.name == call.name })
            else { continue }
            values[call.name] = tree
        }
        self.values = values
    }

    /// The whole body, instead of the members; nil without `root`.
    var root: Tree? { keys["root"].map { value($0) ?? .null } }

    /// The value of the header `X-Sum`; nil if it is left out.
    var header: String? { keys["headers"]?["X-Sum"].flatMap { value($0)?.plain } }

    /// The members after `drop`, `put` and `default`, and the keys of `put` that existed.
    func members(of body: Tree) -> (body: Tree, taken: [String]) {
        var body = keys[texts: "drop"].reduce(body) { $0.dropping(TreePath($1)) }
        var taken: [String] = []
        for member in keys["put"]?.members ?? [] {
            guard let value = value(member.value) else { continue }
            if body[member.key] == nil {
                body.set(member.key, value)
            } else {
                taken.append(member.key)
            }
        }
        for member in keys["default"]?.members ?? [] {
            body = body.defaulting(TreePath(member.key), to: member.value)
        }
        return (body, taken)
    }

    /// A value without missing entries; nil if it is missing itself. The recursion is as deep as the drawn value.
    private func value(_ template: Tree) -> Tree? {
        switch template {
        case .object(let members):
            return .object(
                members.compactMap { member in
                    value(member.value).map { Tree.Member(key: member.key, value: $0) }
                })
        case .array(let elements): return .array(elements.compactMap(value))
        case .scalar:
            guard let text = template.string, text.contains("{") else { return template }
            let pieces = text.split(separator: "{", omittingEmptySubsequences: false)
            var result = String(pieces[0])
            for piece in pieces.dropFirst() {
                let parts = piece.split(separator: "}", omittingEmptySubsequences: false)
                let found = referred(String(parts[0]))
                if pieces.count == 2, result.isEmpty, parts[1].isEmpty { return found }
                guard case .scalar? = found, let found else { return nil }
                result += found.plain + parts[1]
            }
            return .text(result)
        }
    }

    /// The value of `c0.nest.a`; null counts as missing.
    private func referred(_ reference: String) -> Tree? {
        let steps = reference.split(separator: ".", maxSplits: 1).map(String.init)
        let part = values[steps[0]]
        let value = steps.count == 1 ? part : part?.value(at: TreePath(steps[1]))
        return value == .null ? nil : value
    }
}

extension Tree {
    /// The value with a member where it is missing or null, in every object that the path leads to.
    fileprivate func defaulting(_ path: TreePath, to value: Tree) -> Tree {
        switch (self, path.steps.first) {
        case (.array(let elements), .some(nil)):
            return .array(elements.map { $0.defaulting(path.rest, to: value) })
        case (.object(let members), .some(let key?)):
            guard path.steps.count == 1 else {
                return .object(
                    members.map { member in
                        member.key == key
                            ? Member(key: key, value: member.value.defaulting(path.rest, to: value))
                            : member
                    })
            }
            guard self[key] != nil else {
                return .object(members + [Member(key: key, value: value)])
            }
            return .object(
                members.map {
                    $0.key == key && $0.value == .null ? Member(key: key, value: value) : $0
                })
        default: return self
        }
    }
}
