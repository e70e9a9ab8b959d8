/// SHA-256 (FIPS 180-4), for the comparison of the generated policy with its sources.
enum SHA256 {
    static func digest(of message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c,
            0x1f83_d9ab, 0x5be0_cd19,
        ]
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - $0 * 8)) }
        for start in stride(from: 0, to: padded.count, by: 64) {
            mix(Array(padded[start..<start + 64]), into: &state)
        }
        return state.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - $0 * 8)) }
        }
    }

    private static func mix(_ block: [UInt8], into state: inout [UInt32]) {
        var schedule = (0..<16).map { index in
            block[index * 4..<index * 4 + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (early, late) = (schedule[index - 15], schedule[index - 2])
            let small = turn(early, 7) ^ turn(early, 18) ^ early >> 3
            let large = turn(late, 17) ^ turn(late, 19) ^ late >> 10
            schedule.append(schedule[index - 16] &+ small &+ schedule[index - 7] &+ large)
        }
        var s = state
        for index in 0..<64 {
            let choice = s[4] & s[5] ^ ~s[4] & s[6]
            let majority = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]
            let first =
                s[7] &+ (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) &+ choice
                &+ constants[index] &+ schedule[index]
            let second = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) &+ majority
            s = [first &+ second, s[0], s[1], s[2], s[3] &+ first, s[4], s[5], s[6]]
        }
        for index in 0..<8 { state[index] &+= s[index] }
    }

    private static func turn(_ word: UInt32, _ bits: UInt32) -> UInt32 {
        word >> bits | word << (32 - bits)
    }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = {
        let primes = (2..<312).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }
        return primes.prefix(64).map { cubeRootFraction(of: UInt64($0)) }
    }()

    /// By bisection on integers: the largest x with x³ ≤ number · 2⁹⁶, without its whole part.
    private static func cubeRootFraction(of number: UInt64) -> UInt32 {
        var (low, high): (UInt64, UInt64) = (0, 7 << 32)
        while high - low > 1 {
            let middle = (low + high) / 2
            let square = middle.multipliedFullWidth(by: middle)
            let squared = UInt128(square.high) << 64 | UInt128(square.low)
            if squared <= (UInt128(number) << 96) / UInt128(middle) {
                low = middle
            } else {
                high = middle
            }
        }
        return UInt32(truncatingIfNeeded: low)
    }
}
