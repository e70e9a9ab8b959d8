/// A fault of a simulated backend, as an operator writes it: `stock: timeout 10%`.
package struct FaultRule: Sendable, Equatable {
    /// A backend's name, or `*` for all.
    let backend: String
    let kind: Kind
    /// 0 to 1.
    let share: Double

    enum Kind: Sendable, Equatable {
        /// Sends nothing.
        case timeout
        /// Responds later by so many milliseconds.
        case slow(Int)
        /// Closes the connection before a response.
        case close
        /// Refuses the connection: resets it at once.
        case refuse
        case reset
        /// Closes the connection in the middle of a response.
        case cut
        /// Sends a body that is not JSON.
        case garbage
        case status(Int)
    }

    /// A list: `stock: timeout 10%, reviews: 503 5%, *: slow 300ms 20%`.
    ///
    /// - Parameter backends: the valid names
    package static func list(
        _ text: String, backends: [String]
    ) throws(RuleList.SyntaxError) -> [FaultRule] {
        let entries = try RuleList.entries(
            text, like: "stock: timeout 10%", naming: "backend", among: backends)
        var rules: [FaultRule] = []
        for entry in entries { rules.append(try FaultRule(entry)) }
        return rules
    }

    private init(_ entry: RuleList.Entry) throws(RuleList.SyntaxError) {
        let text = entry.words.joined(separator: " ")
        guard let share = entry.words.last.flatMap(RuleList.share) else {
            throw RuleList.SyntaxError(
                description: "a fault ends with its share, e.g. 10%: \(text)")
        }
        let words = Array(entry.words.dropLast())
        guard let kind = Kind(words) else {
            throw RuleList.SyntaxError(
                description: "there is no fault '\(words.joined(separator: " "))' (known: "
                    + "timeout, slow 300ms, close, refuse, reset, cut, garbage, and a status such as"
                    + " 503)")
        }
        backend = entry.name
        self.kind = kind
        self.share = share
    }
}

extension FaultRule.Kind {
    fileprivate init?(_ words: [String]) {
        switch (words.first, words.count) {
        case ("timeout", 1): self = .timeout
        case ("close", 1): self = .close
        case ("refuse", 1): self = .refuse
        case ("reset", 1): self = .reset
        case ("cut", 1): self = .cut
        case ("garbage", 1): self = .garbage
        case ("slow", 2):
            guard let milliseconds = RuleList.milliseconds(words[1]) else { return nil }
            self = .slow(milliseconds)
        case (let word?, 1):
            guard let status = Int(word), (200...599).contains(status) else { return nil }
            self = .status(status)
        default: return nil
        }
    }
}
