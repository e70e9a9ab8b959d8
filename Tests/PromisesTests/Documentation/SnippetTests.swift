import Foundation
import Testing

/// Compares the code in the documentation with the code that these tests compile and run: each
/// block names its snippet, and both have the same text.
@Suite struct SnippetTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    static let catalogue = folder.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/Promises/Promises.docc")

    @Test func everyCodeBlockEqualsItsSnippet() throws {
        let snippets = try Self.snippets()
        var shown: Set<String> = []
        for (page, text) in try Self.files(in: Self.catalogue, ending: ".md") {
            for block in Self.blocks(of: text) {
                let name = try #require(block.name, "\(page): a block without a snippet's name")
                #expect(block.code == snippets[name], "\(page): \(name)")
                shown.insert(name)
            }
        }
        // `ReadmeExample` compares the one that the README shows.
        #expect(shown.union(["readme"]) == Set(snippets.keys))
    }

    @Test func catalogueAndSnippetsAreFound() throws {
        #expect(try Self.files(in: Self.catalogue, ending: ".md").count >= 12)
        #expect(try Self.snippets().count >= 30)
    }

    /// Blocks of Swift, with the name from the comment above each.
    static func blocks(of text: String) -> [(name: String?, code: String)] {
        var blocks: [(name: String?, code: String)] = []
        var name: String?
        var code: [String]?
        for line in text.components(separatedBy: "\n") {
            if let lines = code {
                if line == "```" {
                    blocks.append((name, lines.joined(separator: "\n")))
                    (name, code) = (nil, nil)
                } else {
                    code = lines + [line]
                }
            } else if line == "```swift" {
                code = []
            } else if line.hasPrefix("<!-- snippet: "), line.hasSuffix(" -->") {
                name = String(line.dropFirst(14).dropLast(4))
            } else if !line.isEmpty {
                name = nil
            }
        }
        return blocks
    }

    /// The lines between `// snippet: name` and `// end`, without their common indentation.
    static func snippets() throws -> [String: String] {
        var snippets: [String: String] = [:]
        for (file, text) in try files(in: folder, ending: ".swift") {
            var name: String?
            var lines: [String] = []
            for line in text.components(separatedBy: "\n") {
                let content = line.trimmingCharacters(in: .whitespaces)
                if content.hasPrefix("// snippet: ") {
                    name = String(content.dropFirst(12))
                    lines = []
                } else if content == "// end", let ended = name {
                    #expect(snippets[ended] == nil, "\(file): \(ended) is defined twice")
                    snippets[ended] = dedented(lines)
                    name = nil
                } else if name != nil {
                    lines.append(line)
                }
            }
            #expect(name == nil, "\(file): a snippet without an end")
        }
        return snippets
    }

    private static func dedented(_ lines: [String]) -> String {
        let margin = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(margin)) }.joined(separator: "\n")
    }

    private static func files(in folder: URL, ending: String) throws -> [(String, String)] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(ending) && $0 != "SnippetTests.swift" }
            .map {
                ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            }
    }
}
