import Gateway

/// The body of a plausible response: an object with every member that the configuration reads.
struct SampleResponse {
    private(set) var tree: Tree

    init(_ call: ConfigSurvey.Call) {
        tree = .members(["call": .text(call.name)])
        for path in call.paths { tree = Self.adding(Self.steps(path)[...], to: tree) }
    }

    /// `items[0].id` is three steps: a key, an element (nil), a key.
    private static func steps(_ path: String) -> [String?] {
        var steps: [String?] = []
        for piece in path.split(separator: ".") {
            let key = piece.prefix { $0 != "[" }
            if !key.isEmpty { steps.append(String(key)) }
            steps += piece.filter { $0 == "[" }.map { _ in nil }
        }
        return steps
    }

    /// The tree with a value at the end of the steps. The recursion is as deep as the path is long.
    private static func adding(_ steps: ArraySlice<String?>, to tree: Tree?) -> Tree {
        guard let step = steps.first else { return tree ?? .text("sample") }
        let rest = steps.dropFirst()
        guard let key = step else {
            let elements = tree?.elements ?? []
            return .array(
                (0..<max(2, elements.count)).map { index in
                    adding(rest, to: index < elements.count ? elements[index] : nil)
                })
        }
        guard case .object(var members)? = tree else {
            return .object([Tree.Member(key: key, value: adding(rest, to: nil))])
        }
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].value = adding(rest, to: members[index].value)
        } else {
            members.append(Tree.Member(key: key, value: adding(rest, to: nil)))
        }
        return .object(members)
    }
}
