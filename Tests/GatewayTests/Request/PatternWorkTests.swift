import Basics
import Testing

@testable import Gateway
@testable import Patterns

/// The work limit for the patterns of one request.
@Suite struct PatternWorkTests {
    private func isMatch(_ pattern: Pattern, _ text: String) -> Bool {
        let bytes = Bytes(text)
        return pattern.matches(bytes.span)
    }

    /// A pattern with more states than are cached, against an oracle: an `a` followed by 20
    /// characters.
    @Test func patternsWithTooManyStatesAreMatched() throws {
        let pattern = try Pattern("[ab]*a[ab]{20}")
        var random: UInt64 = 7
        for length in [20, 21, 300, 5_000] {
            var text = ""
            for _ in 0..<length {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += random >> 60 & 1 == 0 ? "a" : "b"
            }
            let isRight = length > 20 && text.dropLast(20).last == "a"
            #expect(isMatch(pattern, text) == isRight, "\(length)")
            #expect(!isMatch(pattern, "c" + text))
        }
    }

    @Test func otherScriptsAreMatchedWithTooManyStates() throws {
        let pattern = try Pattern("[äж]*ä[äж]{12}.")
        let alternating = String(repeating: "äжж", count: 400)
        let end = String(repeating: "ж", count: 12) + "!"
        #expect(isMatch(pattern, alternating + "ä" + end))
        #expect(!isMatch(pattern, alternating + "ж" + end))
    }

    @Test func requestHasAWorkLimit() {
        let half = 4_194_304
        var work = PatternWork()
        let taken = [(2, half / 2), (1, half), (1, 1), (1, 0)].map { instructions, bytes in
            work.take(instructions: instructions, bytes: bytes)
        }
        #expect(taken == [true, true, false, true])
        var other = PatternWork()
        let isTaken = other.take(instructions: .max, bytes: 2)
        #expect(!isTaken)
    }

    /// The largest pattern with a value of 4 KiB, and one of eight instructions with a value of 1 MiB.
    @Test(arguments: [(2000, 4096), (8, 1 << 20)])
    func patternsHaveTheWorkThatTheyNeed(_ instructions: Int, _ bytes: Int) {
        var work = PatternWork()
        let isTaken = work.take(instructions: instructions, bytes: bytes)
        #expect(isTaken)
    }

    private func rule(_ pattern: String) throws -> ValueRule {
        try ValueRule(.string, param("v", .string) { $0.pattern = located(pattern) })
    }

    @Test func valueBeyondTheWorkLimitIsRefused() throws {
        let rule = try rule("[ab]*a[ab]{1900}c")
        #expect(rule.refusal(of: Bytes(Array(repeating: UInt8(ascii: "a"), count: 7_000))) != nil)
        let long = Bytes(Array(repeating: UInt8(ascii: "a"), count: 10_000))
        #expect(rule.refusal(of: long) == .tooLongForPattern)
        // A small pattern matches the same length within the limit.
        #expect(try self.rule("a+").refusal(of: long) == nil)
    }

    @Test func valuesOfOneRequestShareTheWorkLimit() throws {
        let rule = try rule("a{1000}b?|a+")
        let value = Bytes(Array(repeating: UInt8(ascii: "a"), count: 5_000))
        var work = PatternWork()
        let reasons = [rule.refusal(of: value, &work), rule.refusal(of: value, &work)]
        #expect(reasons == [nil, .tooLongForPattern])
    }

    @Test func tooLargePatternIsAnErrorWithItsLocation() {
        let found = problems(Snippet.endpoint("params: { id: { pattern: \"(a{100}){100}\" } }"))
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix("5:31: error: 'pattern' in parameter 'id'") == true, "\(found)")
        #expect(found.first?.contains("at most 2000 instructions") == true, "\(found)")
    }
}
