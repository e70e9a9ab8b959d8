/// A regular expression that whole values are held against, in time linear in their length.
///
/// The language is the common part of ECMA-262, which JSON Schema names for `pattern`: classes,
/// ranges, `\d \w \s \p{L}` and their negations, `.`, groups, `|`, `* + ? {m,n}`, `^` and `$`. What
/// can only be matched by trying again and again (back-references, look-around) is refused.
///
/// It learns from every match, so it belongs to one core.
package final class Pattern {
    /// As it was written.
    package let text: String
    private var automaton: PatternAutomaton

    package init(_ text: String) throws(PatternError) {
        var parser = PatternParser(text)
        automaton = PatternAutomaton(try PatternProgram(compiling: try parser.wholePattern()))
        self.text = text
    }

    /// The instructions that it was compiled to.
    package var size: Int { automaton.size }

    /// Whether all of the value matches. What is not UTF-8 matches nothing.
    package func matches(_ value: Span<UInt8>) -> Bool {
        (try? UTF8Span(validating: value)) != nil && automaton.matches(value)
    }
}
