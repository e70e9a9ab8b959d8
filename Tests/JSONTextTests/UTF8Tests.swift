import Basics
import Testing

@testable import JSONText

/// UTF-8 validation compared with the standard library's decoder.
struct UTF8Tests {
    /// The first and last scalar of each length, and those around the surrogates.
    static let edges: [UInt32] = [
        0x20, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFD,
        0xFFFF,
        0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF,
    ]

    @Test(arguments: edges)
    func boundaryScalarsAreValidAtEveryOffset(_ scalar: UInt32) throws {
        let character = String(Character(try #require(Unicode.Scalar(scalar))))
        for offset in 0..<140 {
            let text = "\"" + String(repeating: "x", count: offset) + character + "\""
            #expect(scanError(in: text) == nil)
            #expect(scanError(in: text + " ") == nil)
        }
    }

    /// All pairs of a lead byte and a second byte, completed to the length of the lead byte.
    @Test func leadAndSecondBytesAgreeWithTheStandardLibrary() {
        for lead in UInt8(0x80)...0xFF {
            for second in UInt8(0x60)...0xFF {
                for tail in 0..<3 {
                    expectSameResult(
                        [lead, second] + [UInt8](repeating: 0x80, count: tail), offset: 3)
                }
            }
        }
    }

    @Test(arguments: 0..<70)
    func invalidSequencesAreRefusedAtEveryOffset(_ offset: Int) {
        for notation in [
            "%80", "%BF", "%C0%80", "%C1%BF", "%C2", "%C2A", "%DF%C0", "%E0%9F%BF", "%E0%A0",
            "%E0%A0A", "%ED%A0%80",
            "%ED%BF%BF", "%EF%BF", "%F0%8F%BF%BF", "%F0%90%80", "%F0%90%80A", "%F4%90%80%80",
            "%F5%80%80%80", "%FE", "%FF",
            "%C3%A9%A9", "%F1%80%80%80%80",
        ] {
            expectSameResult(Corpus.bytes(notation), offset: offset)
            #expect(scanError(in: quoted(Corpus.bytes(notation), offset)) != nil)
        }
    }

    private func quoted(_ bytes: [UInt8], _ offset: Int) -> [UInt8] {
        [.quote] + [UInt8](repeating: UInt8(ascii: "x"), count: offset) + bytes + [.quote]
    }

    private func expectSameResult(_ bytes: [UInt8], offset: Int) {
        let isValid = String(validating: bytes, as: UTF8.self) != nil
        let isSame = (scanError(in: quoted(bytes, offset)) == nil) == isValid
        #expect(isSame, "\(bytes)")
    }

    @Test func runsAreValidAndTruncatedRunsAreNot() {
        for length in 1..<200 {
            for character in ["é", "漢", "😀"] {
                let run = Array(String(repeating: character, count: length).utf8)
                let whole = scanError(in: [.quote] + run + [.quote])
                let truncated = scanError(in: [.quote] + run.dropLast() + [.quote])
                #expect(whole == nil && truncated?.reason == .invalidUTF8)
            }
        }
    }
}
