/// A list of rules for named things, as an operator writes it on the command line:
/// `stock: timeout 10%, *: slow 300ms 5%`.
package enum RuleList {
    /// A list that cannot be parsed, with the message for the operator.
    package struct SyntaxError: Error, CustomStringConvertible {
        package let description: String
    }

    /// One entry: a name, or `*` for all, and the words behind the colon.
    struct Entry {
        let name: String
        let words: [String]
    }

    /// - Parameters:
    ///   - example: a valid entry, for messages
    ///   - kind: what the names denote, such as `backend`
    ///   - names: the valid names
    static func entries(
        _ text: String, like example: String, naming kind: String, among names: [String]
    ) throws(SyntaxError) -> [Entry] {
        var entries: [Entry] = []
        for item in text.split(separator: ",") {
            let parts = item.split(separator: ":", maxSplits: 1)
            let name = parts.first.map { $0.filter { $0 != " " } } ?? ""
            guard parts.count == 2 else {
                throw SyntaxError(description: "write it like '\(example)': \(item)")
            }
            guard name == "*" || names.contains(name) else {
                let known = names.isEmpty ? "none" : names.joined(separator: ", ")
                throw SyntaxError(
                    description: "there is no \(kind) '\(name)' (known: \(known), and * for all)")
            }
            entries.append(
                Entry(name: name, words: parts[1].split(separator: " ").map(String.init)))
        }
        return entries
    }

    /// `10%` as 0.1; nil for anything else.
    static func share(_ word: String) -> Double? {
        guard word.hasSuffix("%"), let share = Double(word.dropLast()), (0...100).contains(share)
        else { return nil }
        return share / 100
    }

    /// `100B`, `64KiB` or `1MiB` in bytes, from 1 byte to 64 MiB; nil for anything else.
    static func bytes(_ text: some StringProtocol) -> Int? {
        for (unit, worth) in [("KiB", 1 << 10), ("MiB", 1 << 20), ("B", 1)]
        where text.hasSuffix(unit) {
            return Int(text.dropLast(unit.count)).flatMap {
                (1...(64 << 20) / worth).contains($0) ? $0 * worth : nil
            }
        }
        return nil
    }

    /// `300ms` or `2s` in milliseconds, up to 1,000,000 of either unit; nil for anything else.
    static func milliseconds(_ text: some StringProtocol) -> Int? {
        for (unit, worth) in [("ms", 1), ("s", 1000)] where text.hasSuffix(unit) {
            return Int(text.dropLast(unit.count)).flatMap {
                (0..<1_000_000).contains($0) ? $0 * worth : nil
            }
        }
        return nil
    }
}
