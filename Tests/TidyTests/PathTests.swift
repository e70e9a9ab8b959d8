import Foundation
import Testing

/// What documents refer to is there: pages, their sections, and the files of the code.
@Suite struct PathTests {
    /// Every page and every table in a file of its own, with its text.
    private static func pages() throws -> [(path: String, text: String)] {
        let below = ["docs", "Sources/Promises"].flatMap { folder in
            (FileManager.default.subpaths(atPath: Sources.root.appending(path: folder).path) ?? [])
                .filter { ($0.hasSuffix(".md") || $0.hasSuffix(".csv")) && !$0.contains(".docc/") }
                .map { "\(folder)/\($0)" }
        }
        return try
            (["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] + below.sorted())
            .map { ($0, try text($0)) }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
    }

    // MARK: Links

    @Test func everyLinkLeadsToAPageAndASection() throws {
        var count = 0
        for page in try Self.pages() {
            let folder = Sources.root.appending(path: page.path).deletingLastPathComponent()
            for link in page.text.matches(of: /\]\(([^)#:\s]*)(?:#([^)\s]+))?\)/) {
                let file = link.1.isEmpty ? page.path : String(link.1)
                let url =
                    link.1.isEmpty
                    ? Sources.root.appending(path: file) : folder.appending(path: file)
                count += 1
                guard FileManager.default.fileExists(atPath: url.path) else {
                    Issue.record("\(page.path): \(link.0)")
                    continue
                }
                guard let section = link.2 else { continue }
                let target = try String(contentsOf: url, encoding: .utf8)
                #expect(
                    Self.sections(of: target).contains(String(section)), "\(page.path): \(link.0)")
            }
        }
        #expect(count > 150)
    }

    @Test func sectionsAreNamedAsLinksNameThem() {
        let page = "# The file\ntext\n## Limits and cases: `x`\n### MARK, and (more)\n#no heading\n"
        #expect(Self.sections(of: page) == ["the-file", "limits-and-cases-x", "mark-and-more"])
    }

    /// The headings, in lower case, with hyphens for spaces and without punctuation.
    private static func sections(of page: String) -> Set<String> {
        Set(
            page.split(separator: "\n").filter { $0.contains(/^#+\s/) }.map { line in
                line.drop { $0 == "#" }.dropFirst().lowercased()
                    .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                    .replacing(" ", with: "-")
            })
    }

    // MARK: Files

    @Test func everyFileOfTheCodeThatAPageNamesExists() throws {
        let manager = FileManager.default
        let files = ["Sources", "Tests", "script"].flatMap { folder in
            (manager.subpaths(atPath: Sources.root.appending(path: folder).path) ?? [])
                .filter { !$0.contains(".build") }.map { "\(folder)/\($0)" }
        }
        let names = Set(files.map { $0.split(separator: "/").last.map(String.init) ?? "" })
        var count = 0
        for page in try Self.pages() {
            for name in Self.files(in: page.text) {
                count += 1
                let isThere =
                    name.contains("/")
                    ? files.contains { $0 == name || $0.hasSuffix("/\(name)") }
                    : names.contains(name)
                #expect(isThere, "\(page.path): \(name)")
            }
        }
        #expect(count > 80)
    }

    /// Checklists say which test fails while something is missing.
    @Test func everyTestThatAPageNamesExists() throws {
        var count = 0
        for page in try Self.pages() {
            for named in page.text.matches(of: /`(\w+Tests)\.([a-z]\w+)`/) where named.2 != "swift"
            {
                count += 1
                let isThere = try TestNames.contains(named.1, named.2)
                #expect(isThere, "\(page.path): \(named.0)")
            }
        }
        #expect(count > 60)
    }

    @Test func filesAreFoundInPages() {
        let page = """
            `Sources/Gateway/Core/Context/Service.swift`, [`Chain.swift`](x), `Filters/NAME.swift`, `Tests/AssemblyTests`,
            `script/test --filter X`, `Keys+Call`, `swift test`
            """
        #expect(
            Self.files(in: page) == [
                "Sources/Gateway/Core/Context/Service.swift", "Chain.swift", "Tests/AssemblyTests",
                "script/test",
            ])
    }

    /// What stands between backquotes and is a file or a folder of the code; `NAME` is a placeholder.
    private static func files(in page: String) -> [String] {
        page.matches(of: /`([^`\s]+)[^`\n]*`/).map { String($0.1) }.filter { name in
            let isFile = name.hasSuffix(".swift") || name.contains(/^(Sources|Tests|script)\/\w/)
            return isFile && !name.contains("NAME") && !name.contains("*")
        }
        .map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }
}
