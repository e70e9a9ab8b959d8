import Basics
import JSONText
import Testing

struct CorpusTests {
    @Test(arguments: Corpus.accepted)
    func accepts(_ text: Corpus.Case) {
        #expect(scanError(in: text.text) == nil)
    }

    @Test(arguments: Corpus.refused)
    func refuses(_ text: Corpus.Case) {
        #expect(scanError(in: text.text) != nil)
    }

    /// Checks the reference parser of the random tests.
    @Test func referenceAcceptsAndRefusesTheCorpus() {
        #expect(Corpus.accepted.filter { !Reference.accepts($0.text) }.isEmpty)
        let shallow = Corpus.refused.filter {
            !$0.name.hasPrefix("n_structure_513") && $0.text.count < 10_000
        }
        #expect(shallow.filter { Reference.accepts($0.text) }.isEmpty)
    }

    /// The same results inside a long text, at every alignment.
    @Test(arguments: Corpus.accepted)
    func acceptsInsideLongerTexts(_ text: Corpus.Case) {
        for padding in 0..<80 {
            #expect(scanError(in: embedded(text.text, padding)) == nil)
        }
    }

    @Test(arguments: Corpus.refused.filter { $0.text.count < 10_000 })
    func refusesInsideLongerTexts(_ text: Corpus.Case) {
        for padding in 0..<80 {
            #expect(scanError(in: embedded(text.text, padding)) != nil)
        }
    }

    private func embedded(_ value: [UInt8], _ padding: Int) -> [UInt8] {
        let before = #"{"padding":""# + String(repeating: "x", count: padding) + #"","value":"#
        let after = #","more":["# + String(repeating: "1,", count: 40) + "1]}"
        return Array(before.utf8) + value + Array(after.utf8)
    }
}
