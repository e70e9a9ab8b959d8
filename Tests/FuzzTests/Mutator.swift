import Basics

/// Mutates inputs, in the same way for the same seed: bytes, tokens of the format, parts of other
/// inputs.
struct Mutator {
    private let entropy: Entropy
    private let tokens: [[UInt8]]
    private let corpus: [[UInt8]]

    init(seed: UInt64, tokens: [String], corpus: [[UInt8]]) {
        entropy = Entropy(seed: seed)
        self.tokens = tokens.map { Array($0.utf8) }
        self.corpus = corpus
    }

    /// An input of the corpus, mutated one to four times.
    func nextInput() -> [UInt8] {
        var input = pick(corpus) ?? []
        for _ in 0...entropy.below(4) { change(&input) }
        return input
    }

    private func change(_ input: inout [UInt8]) {
        let offset = entropy.below(input.count + 1)
        switch entropy.below(8) {
        case 0: input.insert(contentsOf: pick(tokens) ?? [], at: offset)
        case 1: input.insert(UInt8(entropy.below(256)), at: offset)
        case 2: input.removeSubrange(offset..<end(after: offset, in: input))
        case 3: input.insert(contentsOf: input[offset..<end(after: offset, in: input)], at: offset)
        case 4:
            let other = pick(corpus) ?? []
            let from = entropy.below(other.count + 1)
            input.insert(contentsOf: other[from..<end(after: from, in: other)], at: offset)
        case 5:
            let end = end(after: offset, in: input)
            input.replaceSubrange(offset..<end, with: pick(tokens) ?? [])
        case 6 where offset < input.count: input[offset] ^= 1 << UInt8(entropy.below(8))
        case 7 where offset < input.count: input[offset] = UInt8(entropy.below(256))
        default: break
        }
    }

    private func end(after offset: Int, in input: [UInt8]) -> Int {
        min(input.count, offset + 1 + entropy.below(entropy.below(4) == 0 ? 64 : 4))
    }

    private func pick(_ choices: [[UInt8]]) -> [UInt8]? {
        choices.isEmpty ? nil : choices[entropy.below(choices.count)]
    }
}
