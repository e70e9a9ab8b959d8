import Basics
import Testing

@testable import Patterns

/// Compares the automaton with a slow and simple interpretation of the same tree, which computes
/// the offsets of a value that a match can reach.
@Suite struct PatternInterpreterTests {
    @Test(arguments: UInt64(1)...40)
    func agreesWithTheInterpretedTree(seed: UInt64) throws {
        let entropy = Entropy(seed: seed)
        for _ in 0..<25 {
            let text = Self.pattern(entropy, depth: 3)
            var parser = PatternParser(text)
            let tree = try parser.wholePattern()
            let pattern = try Pattern(text)
            for _ in 0..<25 {
                let value = (0..<entropy.below(7)).map { _ in ["a", "b", "é"][entropy.below(3)] }
                    .joined()
                let interpreter = TreeInterpreter(value: Array(value.unicodeScalars))
                #expect(
                    pattern.matches(Bytes(value).span) == interpreter.matches(tree),
                    "\(text) on \(value)")
            }
        }
    }

    static func pattern(_ entropy: Entropy, depth: Int) -> String {
        let inner = { depth == 0 ? "a" : pattern(entropy, depth: depth - 1) }
        switch entropy.below(depth == 0 ? 5 : 12) {
        case 0, 1: return "a"
        case 2: return "[^b]"
        case 3: return "é"
        case 4: return "."
        case 5, 6: return inner() + inner()
        case 7: return "(\(inner())|\(inner()))"
        case 8: return "(\(inner()))*"
        case 9: return "(\(inner())){\(entropy.below(2)),\(1 + entropy.below(3))}"
        case 10: return "(\(inner()))+"
        default: return ["^", "$", "(|a)", "b?"][entropy.below(4)]
        }
    }
}

private struct TreeInterpreter {
    let value: [Unicode.Scalar]

    func matches(_ tree: PatternNode) -> Bool { ends(of: tree, from: [0]).contains(value.count) }

    private func ends(of node: PatternNode, from starts: Set<Int>) -> Set<Int> {
        switch node {
        case .empty: return starts
        case .one(let set):
            return Set(starts.filter { $0 < value.count && set.contains(value[$0]) }.map { $0 + 1 })
        case .sequence(let parts): return parts.reduce(starts) { ends(of: $1, from: $0) }
        case .choice(let branches):
            return branches.reduce(into: []) { $0.formUnion(ends(of: $1, from: starts)) }
        case .start: return starts.intersection([0])
        case .end: return starts.intersection([value.count])
        case .repeated(let part, let least, let most):
            var reached = starts
            for _ in 0..<least { reached = ends(of: part, from: reached) }
            var found = reached
            for _ in least..<(most ?? least + value.count + 1) {
                reached = ends(of: part, from: reached)
                found.formUnion(reached)
            }
            return found
        }
    }
}
