import Basics
import RESP
import Testing

@testable import Gateway

/// The script of the store, and its numbers.
@Suite struct LimitScriptTests {
    /// A store knows the script by the SHA-1 of its text: another digest would cost every request a
    /// second round trip.
    @Test func theDigestIsThatOfTheText() {
        #expect("\(LimitScript.digest)" == SHA1.hex(Array("\(LimitScript.text)".utf8)))
    }

    /// RFC 3174 7.3
    @Test func theReferenceHashIsRight() {
        #expect(SHA1.hex(Array("abc".utf8)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    }

    @Test func aRunIsOneCommandWithAllCharges() throws {
        let bucket = StoreBucket(count: 100, per: .seconds(1), burst: 5)
        let charges = [
            bucket.charge(2, key: Bytes("a")),
            // Of 10 ms, 5 ms are not yet paid.
            bucket.refund(1, unpaid: 500, key: Bytes("b"), slack: .seconds(1)),
        ]
        var bytes: [UInt8] = []
        LimitScript.write(.digest, .decide, charges, to: &bytes)
        let words = [
            "EVALSHA", "\(LimitScript.digest)", "2", "a", "b", "1", "160000", "400000", "400000",
            "0", "0", "-40000", "400000", "8400000", "0", "0",
        ]
        #expect(bytes == RESPCommand(words.map { Bytes($0) }).bytes)
        LimitScript.write(.text, .add, [], to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).contains("EVAL\r\n"))
    }

    /// A burst of seven at 7/s is granted, although the interval is not a whole number of units.
    @Test(arguments: [1, 3, 7, 999, 30_000, 1_000_000])
    func aBurstIsAWholeNumberOfCharges(_ count: Int) {
        let bucket = StoreBucket(count: count, per: .seconds(1), burst: count)
        let charge = bucket.charge(1, key: Bytes())
        #expect(charge.charge * Int64(count) == charge.tolerance)
        // Rounded up, so the rate is never exceeded.
        #expect(charge.tolerance >= LimitScript.unitsPerSecond)
    }

    @Test(arguments: [(-1, 0), (0, 0), (1, 80), (999, 79_920), (1_000, 80_000), (.max, 80_000)])
    func aRefundIsTheUnpaidPartOfTheCharge(_ unpaid: Int64, _ returned: Int64) {
        let bucket = StoreBucket(count: 100, per: .seconds(1), burst: 5)
        let refund = bucket.refund(1, unpaid: unpaid, key: Bytes(), slack: .zero)
        #expect(refund.charge == -returned)
    }

    @Test func chargesOfOneKeyAddUp() {
        let bucket = StoreBucket(count: 100, per: .seconds(1), burst: 5)
        var sum = bucket.charge(2, key: Bytes())
        sum.add(bucket.refund(1, unpaid: 1_000, key: Bytes(), slack: .zero))
        #expect(sum == bucket.charge(1, key: Bytes()))
        let long = StoreBucket(count: 1, per: .seconds(86_400 * 366), burst: 1_000_000)
        for _ in 0..<5_000 { sum.add(long.charge(1_000_000, key: Bytes())) }
        #expect(sum.charge == 1 << 52, "the numbers of the script end here")
    }

    @Test func extremeNumbersStayWithinThoseOfTheScript() {
        let bucket = StoreBucket(count: 1, per: .seconds(86_400 * 366), burst: 1_000_000)
        let charge = bucket.charge(1_000_000, key: Bytes(), slack: .seconds(Int64.max))
        #expect(charge.charge <= 1 << 52 && charge.tolerance <= 1 << 52)
        #expect(charge.aheadMax <= 1 << 52)
    }

    @Test func onlyRepliesOfTheScriptAreVerdicts() {
        let verdict = LimitStore.Verdict(
            .array([.integer(1), .integer(7), .integer(0)]), count: 2)
        #expect(verdict == LimitStore.Verdict(isGranted: true, ahead: [7, 0]))
        for reply: RESPValue in [
            .integer(1), .null, .array([]), .array([.integer(1)]), .error(Bytes("ERR")),
            .array([.integer(1), .integer(7)]), .array([.integer(1), .null, .integer(0)]),
        ] {
            #expect(LimitStore.Verdict(reply, count: 2) == nil, "\(reply)")
        }
    }
}

/// SHA-1 (RFC 3174), for the digest of the script only.
private enum SHA1 {
    static func hex(_ message: [UInt8]) -> String {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
        for start in stride(from: 0, to: padded.count, by: 64) {
            process(padded[start..<(start + 64)], &state)
        }
        return state.map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 8 - text.count) + text
        }.joined()
    }

    private static func process(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
        var words = (0..<16).map { index in
            (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(block[block.startIndex + index * 4 + $1]) }
        }
        for index in 16..<80 {
            let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(rotated(word, 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let (mix, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, 5) &+ mix &+ e &+ constant &+ words[index]
            (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
