import Basics
import JSONText
import Testing

struct CorpusTests {
    @Test(arguments: Corpus.accepted)
    func accepts(_ text: Corpus.Case) {
        #expect(fault(in: text.text) == nil)
    }

    @Test(arguments: Corpus.refused)
    func refuses(_ text: Corpus.Case) {
        #expect(fault(in: text.text) != nil)
    }

    /// The reference of the random tests must itself be right.
    @Test func theReferenceAgrees() {
        #expect(Corpus.accepted.filter { !Reference.accepts($0.text) }.isEmpty)
        let shallow = Corpus.refused.filter {
            !$0.name.hasPrefix("n_structure_513") && $0.text.count < 10_000
        }
        #expect(shallow.filter { Reference.accepts($0.text) }.isEmpty)
    }

    /// The same verdicts far inside of a long text, at every alignment.
    @Test(arguments: Corpus.accepted)
    func acceptsInsideOfLongerTexts(_ text: Corpus.Case) {
        for padding in 0..<80 {
            #expect(fault(in: embedded(text.text, padding)) == nil)
        }
    }

    @Test(arguments: Corpus.refused.filter { $0.text.count < 10_000 })
    func refusesInsideOfLongerTexts(_ text: Corpus.Case) {
        for padding in 0..<80 {
            #expect(fault(in: embedded(text.text, padding)) != nil)
        }
    }

    private func embedded(_ value: [UInt8], _ padding: Int) -> [UInt8] {
        let before = #"{"padding":""# + String(repeating: "x", count: padding) + #"","value":"#
        let after = #","more":["# + String(repeating: "1,", count: 40) + "1]}"
        return Array(before.utf8) + value + Array(after.utf8)
    }
}
