import Basics
import Testing

@testable import Patterns

@Suite struct PatternTests {
    @Test(arguments: [
        ("[A-Z]{3}", "ABC"),
        ("", ""),
        ("a|b", "b"),
        ("|a", ""),
        ("ab*c", "ac"),
        ("ab*c", "abbbc"),
        ("ab+c", "abc"),
        ("ab?c", "ac"),
        ("a{2}", "aa"),
        ("a{2,}", "aaaaa"),
        ("a{2,3}", "aaa"),
        ("a{0}b", "b"),
        ("a*?b+?c??", "aab"),
        ("(ab|cd)+", "abcdab"),
        ("(?:ab)(?<year>\\d{4})", "ab2024"),
        ("((a*)*)*", "aaa"),
        ("(a|b|)*c", "abbac"),
        ("^abc$", "abc"),
        ("^a|b$", "b"),
        ("(^a)+", "a"),
        ("(^)*a($)+", "a"),
        ("\\d+\\.\\d{2}", "19.90"),
        ("\\w+", "az_AZ09"),
        ("\\s\\S", "\u{A0}x"),
        ("\\D\\W", "x-"),
        ("[^a-c]", "d"),
        ("[a-]", "-"),
        ("[-a]", "-"),
        ("[\\w-.]+", "a.b-c"),
        ("[\\]\\\\^]", "\\"),
        ("[\\d\\s]+", "1 2"),
        ("[^\\d]", "x"),
        (".", "é"),
        ("..", "é😀"),
        ("[а-я]+", "привет"),
        ("\\p{L}+", "Žluťoučký"),
        ("\\p{Lu}\\P{Lu}", "Aa"),
        ("[^\\p{L}]", "1"),
        ("[\\p{Nd}x]", "٣"),
        ("\\u00e9\\xe9\\u{1F600}\\ud83d\\ude00", "éé😀😀"),
        ("\\t\\n\\r\\f\\v\\0", "\t\n\r\u{0C}\u{0B}\0"),
        ("\\/\\-\\@\\{\\}", "/-@{}"),
        ("\\0[0-9]\\x30", "\u{0}70"),
        ("[\\0-9]+", "\u{0}9"),
        ("]}", "]}"),
        ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "123e4567-e89b-12d3-a456-426614174000"),
    ])
    func matches(_ pattern: String, _ value: String) throws {
        #expect(try Pattern(pattern).matches(Bytes(value).span))
    }

    @Test(arguments: [
        ("[A-Z]{3}", "ABCD"),
        ("[A-Z]{3}", "AB"),
        ("[A-Z]{3}", "xABC"),
        ("", "a"),
        ("a|b", "ab"),
        ("^a|b$", "ax"),
        ("ab+c", "ac"),
        ("a{2,3}", "aaaa"),
        ("a{2,3}", "a"),
        ("a^b", "ab"),
        ("a$b", "ab"),
        ("$a", "a"),
        ("$a", ""),
        (".", "\n"),
        (".", "\u{2028}"),
        (".", "ab"),
        ("[^a]", "a"),
        ("[^\\d]", "1"),
        ("\\w", "é"),
        ("\\d", "٣"),
        ("\\P{L}", "a"),
        ("a{0}", "a"),
    ])
    func doesNotMatch(_ pattern: String, _ value: String) throws {
        #expect(try !Pattern(pattern).matches(Bytes(value).span))
    }

    @Test func invalidUTF8MatchesNothing() throws {
        #expect(try !Pattern(".*").matches(Bytes([0x61, 0xFF]).span))
    }

    @Test func matchesAreIndependent() throws {
        let pattern = try Pattern("(ab)*c")
        let values = ["ababc", "ab", "c", "", "abab", "abc"]
        #expect(
            values.map { pattern.matches(Bytes($0).span) } == [
                true, false, true, false, false, true,
            ])
    }

    /// A backtracking matcher takes exponential time for each of them.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "(a+)+b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b",
            "(a?){100}a{100}b", "((a{0,10}){0,10}){0,2}b",
        ])
    func takesLinearTime(_ pattern: String) throws {
        let value = Bytes([UInt8](repeating: UInt8(ascii: "a"), count: 4096))
        #expect(try !Pattern(pattern).matches(value.span))
    }

    /// `(a|b)*a(a|b){n}` has a deterministic state for every word of n letters.
    @Test func matchesAreCorrectBeyondTheStateLimit() throws {
        let pattern = try Pattern("(a|b|é)*a(a|b|é){11}")
        let entropy = Entropy(seed: 7)
        for _ in 0..<20 {
            let word = (0..<500).map { _ in ["a", "b", "é"][entropy.below(3)] }
            #expect(pattern.matches(Bytes(word.joined()).span) == (word[488] == "a"))
        }
    }

    @Test(arguments: [
        ("a(b", 1, PatternError.Reason.unclosedGroup),
        ("ab)", 2, .unopenedGroup),
        ("a[bc", 1, .unclosedClass),
        ("a[b\\", 3, .incompleteEscape),
        ("[]", 0, .emptyClass),
        ("[^]", 0, .emptyClass),
        ("x[[:alpha:]]", 2, .posixClass),
        ("[xz-a]", 2, .rangeOutOfOrder),
        ("*a", 0, .nothingToRepeat),
        ("a|+", 2, .nothingToRepeat),
        ("a**", 2, .nothingToRepeat),
        ("a{2}{3}", 4, .nothingToRepeat),
        ("^*", 1, .nothingToRepeat),
        ("{id}", 0, .brace),
        ("a{,2}", 1, .brace),
        ("a{2", 1, .brace),
        ("a{3,2}", 1, .repetitionOutOfOrder),
        ("é\\", 1, .incompleteEscape),
        ("\\x4", 0, .incompleteEscape),
        ("\\u{110000}", 0, .incompleteEscape),
        ("\\ud800", 0, .incompleteEscape),
        ("\\u{}", 0, .incompleteEscape),
        ("\\060", 0, .octalEscape),
        ("a\\00", 1, .octalEscape),
        ("[a\\01]", 2, .octalEscape),
        ("\\09", 0, .octalEscape),
        ("\\q", 0, .unknownEscape),
        ("\\é", 0, .unknownEscape),
        ("\\pL", 0, .unknownCategory),
        ("\\p{Greek}", 0, .unknownCategory),
        ("(a)\\1", 3, .backReference),
        ("\\k<a>", 0, .backReference),
        ("a(?=b)", 1, .lookAround),
        ("a(?!b)", 1, .lookAround),
        ("(?<=a)b", 0, .lookAround),
        ("(?<!a)b", 0, .lookAround),
        ("\\bword", 0, .wordBoundary),
        ("(?i)a", 0, .groupOption),
        ("(?<a b>c)", 0, .groupOption),
        ("a{3000}", 0, .tooLarge),
        ("a{99999999999999999999}", 0, .tooLarge),
        ("((a{100}){100}){100}", 0, .tooLarge),
        (String(repeating: "(", count: 60), 50, .tooDeep),
    ])
    func refuses(_ pattern: String, _ offset: Int, _ reason: PatternError.Reason) {
        #expect(throws: PatternError(offset: offset, reason: reason)) { try Pattern(pattern) }
    }

    /// The parser drops a repetition of nothing, so that the compiler never runs its loop: the
    /// bound on instructions could not stop a loop that emits none.
    @Test(arguments: ["(){99999}", "((a{0}){2000}){2000}", "(()*)+"])
    func emptyRepetitionsAreDroppedBeforeCompiling(_ text: String) throws {
        var parser = PatternParser(text)
        // Otherwise the compiler would run for a very long time.
        try #require(try parser.wholePattern() == .empty)
        let pattern = try Pattern(text)
        #expect(pattern.size == 1, "accept alone")
        #expect(pattern.matches(Bytes("").span) && !pattern.matches(Bytes("a").span))
    }

    /// Branches of nothing are two instructions each, so the bound on instructions ends the loop.
    @Test func repetitionsOfEmptyBranchesCountAsInstructions() throws {
        let most = (PatternProgram.sizeMax - 1) / 2
        #expect(try Pattern("(|){\(most)}").size == 2 * most + 1)
        #expect(throws: PatternError(offset: 0, reason: .tooLarge)) {
            try Pattern("(|){\(most + 1)}")
        }
    }
}
