/// What shall go wrong at a backend, as an operator says it: `stock: timeout 10%`.
package struct FaultRule: Sendable, Equatable {
    /// A backend's name, or `*` for all.
    let backend: String
    let kind: Kind
    /// 0 to 1.
    let share: Double

    enum Kind: Sendable, Equatable {
        /// Says nothing.
        case timeout
        /// Answers later by so many milliseconds.
        case slow(Int)
        /// Ends the connection before an answer.
        case close
        case reset
        /// Ends the connection in the middle of an answer.
        case cut
        /// Answers something that is no JSON.
        case garbage
        case status(Int)
    }

    /// What cannot be understood, with the words for the operator.
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    /// A list: `stock: timeout 10%, reviews: 503 5%, *: slow 300ms 20%`.
    ///
    /// - Parameter backends: the names that there are
    package static func list(
        _ text: String, backends: [String]
    ) throws(Mistake) -> [FaultRule] {
        var rules: [FaultRule] = []
        for item in text.split(separator: ",") {
            rules.append(try FaultRule(item, backends: backends))
        }
        return rules
    }

    private init(_ text: Substring, backends: [String]) throws(Mistake) {
        let parts = text.split(separator: ":", maxSplits: 1)
        let name = parts.first.map { $0.filter { $0 != " " } } ?? ""
        guard parts.count == 2 else {
            throw Mistake(description: "write a fault like 'stock: timeout 10%': \(text)")
        }
        guard name == "*" || backends.contains(name) else {
            throw Mistake(
                description: "there is no backend '\(name)' (there are "
                    + "\(backends.joined(separator: ", ")), and * for all)")
        }
        var words = parts[1].split(separator: " ").map(String.init)
        guard let last = words.popLast(), last.hasSuffix("%"), let share = Double(last.dropLast()),
            (0...100).contains(share)
        else { throw Mistake(description: "a fault ends with its share, such as 10%:\(parts[1])") }
        guard let kind = Kind(words) else {
            throw Mistake(
                description: "no fault is called '\(words.joined(separator: " "))' (there are "
                    + "timeout, slow 300ms, close, reset, cut, garbage, and a status such as 503)")
        }
        backend = name
        self.kind = kind
        self.share = share / 100
    }
}

extension FaultRule.Kind {
    fileprivate init?(_ words: [String]) {
        switch (words.first, words.count) {
        case ("timeout", 1): self = .timeout
        case ("close", 1): self = .close
        case ("reset", 1): self = .reset
        case ("cut", 1): self = .cut
        case ("garbage", 1): self = .garbage
        case ("slow", 2):
            guard let milliseconds = Self.milliseconds(words[1]) else { return nil }
            self = .slow(milliseconds)
        case (let word?, 1):
            guard let status = Int(word), (200...599).contains(status) else { return nil }
            self = .status(status)
        default: return nil
        }
    }

    private static func milliseconds(_ text: String) -> Int? {
        for (unit, worth) in [("ms", 1), ("s", 1000)] where text.hasSuffix(unit) {
            return Int(text.dropLast(unit.count)).flatMap { $0 < 1_000_000 ? $0 * worth : nil }
        }
        return nil
    }
}
