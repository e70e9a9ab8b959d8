/// A small random generator for tests: the same texts for the same seed.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }

    mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }
    mutating func chance(oneIn: Int) -> Bool { below(oneIn) == 0 }
    mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    /// A text with a few bytes changed, inserted or removed.
    mutating func mutated(_ text: [UInt8]) -> [UInt8] {
        var text = text
        let bytes =
            Array("\"\\{}[],:0123.eE+-tfnu Yy_\n\0".utf8)
            + [0x80, 0xC3, 0xE2, 0xFF, 0x1F, 0x7F, 0xA0, 0xC0, 0xE0, 0xED, 0xF0]
        for _ in 0...below(2) {
            let offset = below(text.count + 1)
            switch below(3) {
            case 0: text.insert(pick(bytes), at: offset)
            case 1 where offset < text.count: text.remove(at: offset)
            case _ where offset < text.count: text[offset] = pick(bytes)
            default: break
            }
        }
        return text
    }
}

/// Random valid documents, in various notations.
struct RandomDocument {
    var random: Random
    /// Whether white space is written between tokens.
    var isSpaced: Bool

    init(seed: UInt64) {
        random = Random(seed: seed)
        isSpaced = random.chance(oneIn: 2)
    }

    mutating func value(depth: Int = 0) -> String {
        switch random.below(depth > 5 ? 5 : 9) {
        case 0, 1: string()
        case 2, 3: number()
        case 4: random.pick(["true", "false", "null"])
        case 5, 6:
            list("{", "}", depth) { random in
                random.string() + random.space() + ":" + random.space()
            }
        default: list("[", "]", depth) { _ in "" }
        }
    }

    private mutating func list(
        _ open: String, _ close: String, _ depth: Int, _ before: (inout RandomDocument) -> String
    ) -> String {
        var parts: [String] = []
        for _ in 0..<random.below(6) {
            parts.append(space() + before(&self) + value(depth: depth + 1) + space())
        }
        return open + (parts.isEmpty ? space() : parts.joined(separator: ",")) + close
    }

    mutating func space() -> String {
        guard isSpaced else { return "" }
        return (0..<random.below(3)).map { _ in
            random.pick([" ", "\n", "\t", "\r", "    ", "\n" + String(repeating: " ", count: 70)])
        }.joined()
    }

    mutating func string() -> String {
        let parts = (0..<random.below(5)).map { _ in
            random.pick([
                "a", "name", "{", "}", "[", "]", ",", ":", "0", "-", "e", " ", #"\""#, #"\\"#,
                #"\\\\\\"#, #"\/"#, #"\n"#,
                #"\u0041"#, #"\ud83d\ude00"#, "é", "漢字", "😀", "\u{7f}",
                "plain text of some length that goes on and on, and on",
            ])
        }
        return "\"" + parts.joined() + "\""
    }

    mutating func number() -> String {
        let sign = random.pick(["", "-"])
        let whole = random.pick(["0", "7", "10", "123456789", "12345678901234567890"])
        let fraction = random.pick(["", "", ".0", ".50", ".123456789012345"])
        let exponent = random.pick(["", "", "e1", "E+22", "e-007", "e400"])
        return sign + whole + fraction + exponent
    }
}
