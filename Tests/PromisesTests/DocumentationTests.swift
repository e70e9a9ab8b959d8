import Foundation
import Testing

/// Every public declaration says what it is: the one line at least, before the attributes.
@Suite struct DocumentationTests {
    @Test(arguments: ["Promises", "PromiseOperators"])
    func everyPublicDeclarationHasAComment(target: String) throws {
        var declarations = 0
        for file in try Repository.swiftFiles(under: "Sources/\(target)") {
            for (index, line) in file.lines.enumerated() where Self.isPublic(line) {
                declarations += 1
                #expect(Self.hasComment(before: index, in: file.lines), "\(file.path):\(index + 1)")
            }
        }
        #expect(declarations >= 4)
    }

    /// A comment of one sentence has one full stop; operators owe more: when and where it runs, what
    /// a throw does, what a cancellation does. Those who take a handler are held to it.
    @Test func everyHandlerIsExplained() throws {
        var handlers = 0
        for file in try Repository.swiftFiles(under: "Sources/Promises/Chaining") {
            for (index, line) in file.lines.enumerated()
            where Self.isPublic(line) && line.contains(" func ") {
                handlers += 1
                let comment = Self.comment(before: index, in: file.lines)
                #expect(comment.count >= 2, "\(file.path):\(index + 1): says too little")
            }
        }
        #expect(handlers > 30)
    }

    private static func isPublic(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        guard let at = words.firstIndex(where: { $0 == "public" || $0 == "open" }) else {
            return false
        }
        // Before it may stand attributes only; a case of a public enum has no word of its own.
        return words[..<at].allSatisfy { $0.hasPrefix("@") || $0 == "}" }
            && !(words.dropFirst(at + 1).first == "import")
    }

    private static func comment(before index: Int, in lines: [String]) -> [String] {
        var comment: [String] = []
        var place = index - 1
        while place >= 0 {
            let line = lines[place].trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("///") {
                comment.append(line)
            } else if !line.hasPrefix("@") {
                break
            }
            place -= 1
        }
        return comment
    }

    private static func hasComment(before index: Int, in lines: [String]) -> Bool {
        !comment(before: index, in: lines).isEmpty
            // A deinit or conformance that only forbids.
            || lines[max(0, index - 1)].contains("unavailable")
    }
}
