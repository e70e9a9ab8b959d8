/// A regular expression that must match a whole value. Matching takes time linear in the value's
/// length.
///
/// The language is the common part of ECMA-262, which JSON Schema names for `pattern`: classes,
/// ranges, `\d \w \s \p{L}` and their negations, `.`, groups, `|`, `* + ? {m,n}`, `^` and `$`.
/// Features that need backtracking (back-references, look-around) are refused.
///
/// It caches states while matching, so it is confined to one worker.
package final class Pattern {
    /// The pattern as it was written.
    package let text: String
    private var automaton: PatternAutomaton

    package init(_ text: String) throws(PatternError) {
        var parser = PatternParser(text)
        automaton = PatternAutomaton(try PatternProgram(compiling: try parser.wholePattern()))
        self.text = text
    }

    /// The number of instructions of the compiled pattern.
    package var size: Int { automaton.size }

    /// Whether the whole value matches. Invalid UTF-8 matches nothing.
    package func matches(_ value: Span<UInt8>) -> Bool {
        (try? UTF8Span(validating: value)) != nil && automaton.matches(value)
    }
}
