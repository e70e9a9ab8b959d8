import Basics

// Whether a set can verify tokens, and what is wrong with its keys.
extension KeySet {
    /// Whether a token with one of these algorithms can be verified: some `kid` selects exactly one
    /// key.
    package func canVerify(_ algorithms: [SignatureAlgorithm]) -> Bool {
        keys.contains { key in
            algorithms.contains { key.fits($0) && isOnly(key, for: $0) }
        }
    }

    /// Why keys of the set verify nothing, at most `problemsMax` texts.
    package func problems(with algorithms: [SignatureAlgorithm]) -> [String] {
        var problems = unusable.map { "key \($0.position + 1) \($0.reason)" }
        for key in keys {
            let name = key.id.map { "the key '\(String($0))'" } ?? "a key without kid"
            let fitting = algorithms.filter { key.fits($0) }
            if fitting.isEmpty {
                let names = algorithms.map(\.rawValue).joined(separator: " and ")
                problems.append("\(name) (\(key.kind)) does not fit \(names)")
            } else if !fitting.contains(where: { isOnly(key, for: $0) }) {
                let problem = key.id.map { "several keys have the kid '\(String($0))'" }
                problems.append(problem ?? "several keys have no kid")
            }
        }
        if problems.isEmpty { problems = ["the set is empty"] }
        var unique: [String] = []
        for problem in problems where !unique.contains(problem) { unique.append(problem) }
        guard unique.count > Self.problemsMax else { return unique }
        return unique.prefix(Self.problemsMax - 1)
            + ["\(unique.count - Self.problemsMax + 1) more"]
    }

    /// An issuer may send a hundred keys.
    private static let problemsMax = 8

    /// Whether the `kid` and the algorithm select this key and no other.
    private func isOnly(_ key: VerificationKey, for algorithm: SignatureAlgorithm) -> Bool {
        keys.count { $0.id == key.id && $0.fits(algorithm) } == 1
    }
}
