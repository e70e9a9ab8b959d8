import Basics
import Testing

@testable import JSONText

/// UTF-8 next to the standard library's own decoder.
struct UTF8Tests {
    /// First and last of each length, and around the surrogates.
    static let edges: [UInt32] = [
        0x20, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFD,
        0xFFFF,
        0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF,
    ]

    @Test(arguments: edges)
    func everyEdgePassesAtEveryPlace(_ scalar: UInt32) throws {
        let character = String(Character(try #require(Unicode.Scalar(scalar))))
        for place in 0..<140 {
            let text = "\"" + String(repeating: "x", count: place) + character + "\""
            #expect(fault(in: text) == nil)
            #expect(fault(in: text + " ") == nil)
        }
    }

    /// All pairs of a lead byte and a second byte, completed as the lead demands.
    @Test func leadAndSecondByteAreJudgedAsTheStandardLibraryDoes() {
        for lead in UInt8(0x80)...0xFF {
            for second in UInt8(0x60)...0xFF {
                for tail in 0..<3 {
                    expectSameVerdict(
                        [lead, second] + [UInt8](repeating: 0x80, count: tail), place: 3)
                }
            }
        }
    }

    @Test(arguments: 0..<70)
    func brokenSequencesAreRefusedAtEveryPlace(_ place: Int) {
        for notation in [
            "%80", "%BF", "%C0%80", "%C1%BF", "%C2", "%C2A", "%DF%C0", "%E0%9F%BF", "%E0%A0",
            "%E0%A0A", "%ED%A0%80",
            "%ED%BF%BF", "%EF%BF", "%F0%8F%BF%BF", "%F0%90%80", "%F0%90%80A", "%F4%90%80%80",
            "%F5%80%80%80", "%FE", "%FF",
            "%C3%A9%A9", "%F1%80%80%80%80",
        ] {
            expectSameVerdict(Corpus.bytes(notation), place: place)
            #expect(fault(in: quoted(Corpus.bytes(notation), place)) != nil)
        }
    }

    private func quoted(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
        [.quote] + [UInt8](repeating: UInt8(ascii: "x"), count: place) + bytes + [.quote]
    }

    private func expectSameVerdict(_ bytes: [UInt8], place: Int) {
        let isValid = String(validating: bytes, as: UTF8.self) != nil
        let isSame = (fault(in: quoted(bytes, place)) == nil) == isValid
        #expect(isSame, "\(bytes)")
    }

    @Test func runsOfEveryLengthPassAndTheirTornEndsDoNot() {
        for length in 1..<200 {
            for character in ["é", "漢", "😀"] {
                let run = Array(String(repeating: character, count: length).utf8)
                let whole = fault(in: [.quote] + run + [.quote])
                let torn = fault(in: [.quote] + run.dropLast() + [.quote])
                #expect(whole == nil && torn?.reason == .invalidUTF8)
            }
        }
    }
}
