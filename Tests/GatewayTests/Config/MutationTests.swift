import Basics
import Testing
import YAMLReader

@testable import Gateway

/// The example with characters changed, duplicated, moved and removed at random.
@Suite struct MutationTests {
    static let signs = Array("{}[]:,\"'#&*!|>%@`-?$.\n\t 0aé\u{1}")

    @Test(arguments: 0..<16 as Range<UInt64>, ["c.yaml", "c.json"])
    func acceptsOrReportsMutatedConfigurations(seed: UInt64, file: String) {
        let entropy = Entropy(seed: seed)
        for _ in 0..<20 {
            let text = mutated(file == "c.json" ? LoaderTests.json : Example.text, entropy)
            let outcome = load([file: text], main: file, environment: ["USERS_KEY": "k"])
            let problems = outcome.problems.sorted
            #expect((outcome.config == nil) == (outcome.problems.errorCount > 0))
            let lineCount = text.split(separator: "\n", omittingEmptySubsequences: false).count
            #expect(problems.allSatisfy { (1...lineCount + 1).contains($0.location.line) })
        }
    }

    private func mutated(_ text: String, _ entropy: Entropy) -> String {
        var characters = Array(text)
        for _ in 0...entropy.below(4) {
            let at = entropy.below(characters.count)
            switch entropy.below(4) {
            case 0: characters.remove(at: at)
            case 1: characters.insert(Self.signs[entropy.below(Self.signs.count)], at: at)
            case 2: characters[at] = Self.signs[entropy.below(Self.signs.count)]
            default: characters.swapAt(at, entropy.below(characters.count))
            }
        }
        return String(characters)
    }
}
