import Basics

/// Changes inputs, the same way for the same seed: bytes, tokens of the format, parts of others.
struct Mutator {
    private let entropy: Entropy
    private let tokens: [[UInt8]]
    private let corpus: [[UInt8]]

    init(seed: UInt64, tokens: [String], corpus: [[UInt8]]) {
        entropy = Entropy(seed: seed)
        self.tokens = tokens.map { Array($0.utf8) }
        self.corpus = corpus
    }

    /// One of the corpus, changed once to four times.
    func next() -> [UInt8] {
        var input = pick(corpus) ?? []
        for _ in 0...entropy.below(4) { change(&input) }
        return input
    }

    private func change(_ input: inout [UInt8]) {
        let place = entropy.below(input.count + 1)
        switch entropy.below(8) {
        case 0: input.insert(contentsOf: pick(tokens) ?? [], at: place)
        case 1: input.insert(UInt8(entropy.below(256)), at: place)
        case 2: input.removeSubrange(place..<end(behind: place, in: input))
        case 3: input.insert(contentsOf: input[place..<end(behind: place, in: input)], at: place)
        case 4:
            let other = pick(corpus) ?? []
            let from = entropy.below(other.count + 1)
            input.insert(contentsOf: other[from..<end(behind: from, in: other)], at: place)
        case 5:
            let end = end(behind: place, in: input)
            input.replaceSubrange(place..<end, with: pick(tokens) ?? [])
        case 6 where place < input.count: input[place] ^= 1 << UInt8(entropy.below(8))
        case 7 where place < input.count: input[place] = UInt8(entropy.below(256))
        default: break
        }
    }

    private func end(behind place: Int, in input: [UInt8]) -> Int {
        min(input.count, place + 1 + entropy.below(entropy.below(4) == 0 ? 64 : 4))
    }

    private func pick(_ choices: [[UInt8]]) -> [UInt8]? {
        choices.isEmpty ? nil : choices[entropy.below(choices.count)]
    }
}
