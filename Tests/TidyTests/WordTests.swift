import Foundation
import Testing

/// The words that documents, help, messages and comments do not use, because a reader would have to
/// decode them: plain standard English and the field's terms take their place.
///
/// Code is not searched, only comments and string literals.
@Suite struct WordTests {
    /// Regular expressions for whole words, in any case. A space matches any space and line end.
    ///
    /// Words with a common meaning of their own are not in the list, though the project once used them
    /// in another one: port, line, room, share, place, witness, ledger, spell, say, ask, tell.
    static let banned = [
        // People where components act.
        "whoever", "whom", "nobody", "somebody", "everybody",
        "who (waits|leaves|comes|wants|asks)", "(mistakes?|fault) of ours",
        // What data does instead of being received, requested and trusted.
        "(is|are|was|were|be|been|being) (told|asked|heard|believed)", "(told|tells?) of",
        "(tells?|told) nothing", "(hear|hears|heard|hearing)",
        "(speak|speaks|spoke|spoken|speaking)",
        "believ(e|es|ed|ing)|belief", "(stand|stands|standing|stood) for", "unasked",
        "without a word",
        // What pools, breakers and timers do.
        "(let|lets|letting) go", "(leave|leaves|left|leaving) (\\w+ ){0,2}alone", "not well", "ill",
        "(keep|keeps|keeping|kept) (\\w+ ){1,2}waiting", "in vain",
        // Names of things.
        "ghosts?", "heirs?", "seats?", "parcels?", "letter ?box(es)?", "machine rooms?",
        "judges?|judged|judging", "complaints?", "lessons?", "weather", "dice", "sightings?",
        "(?<!/)stor(y|ies)(?!/)",
        // Phrases.
        "of weight", "goes? without saying",
    ]

    /// Words in whose place the sources have the noun.
    static let bannedInSources = ["that of", "those of", "besides"]

    /// What a file may say all the same, with the reason.
    static let allowed: [(path: String, text: String, reason: String)] = [
        ("Tests/TidyTests/WordTests.swift", "", "names the words"),
        ("Tests/Fixtures/", "", "input of tests, in which any word may occur"),
        ("Tests/FuzzTests/Corpora/", "", "input of tests, in which any word may occur"),
        (
            "Tests/Simulation/Draw/", "weather",
            "names a random source; another name would change what every seed draws"
        ),
    ]

    @Test func textsUseNoBannedWord() throws {
        let files = try Self.files()
        for file in files {
            let isSource = file.path.hasPrefix("Sources/")
            for (line, words) in try Self.uses(in: file.prose, isSource: isSource) {
                guard !Self.isAllowed(words, in: file.path) else { continue }
                Issue.record("\(file.path):\(line): '\(words)'")
            }
        }
    }

    @Test func everyKindOfTextIsSearched() throws {
        let paths = try Self.files().map(\.path)
        for path in [
            "README.md", "docs/guide/tutorial.md", "docs/reference/call.md",
            "docs/contribute/how-to/feature.md", "docs/contribute/http-rules.csv",
            "Sources/Promises/Promises.docc/Promises.md", "Sources/Gateway/Chain.swift",
            "Sources/CUV/shim.h", "Tests/TidyTests/BannedTests.swift", "script/test",
        ] {
            #expect(paths.contains(path), "\(path)")
        }
    }

    /// Of a path that has been renamed, an entry would silently cover nothing.
    @Test func everyListedPathExists() {
        for path in Self.allowed.map(\.path) {
            let url = Sources.root.appending(path: path)
            #expect(FileManager.default.fileExists(atPath: url.path), "\(path)")
        }
    }

    // MARK: What is found

    @Test(arguments: [
        ("/// Nobody waits.", "Nobody"), ("// The caller\n    // is\n    // told.", "is told"),
        ("let text = \"is\"\n    + \" asked\"", "is asked"), ("/* the dice */", "dice"),
        ("let help = \"\"\"\n    whoever\n    \"\"\"", "whoever"),
        ("f(\"\\(x) lets go\")", "lets go"),
        ("#\"in vain\"#", "in vain"), ("x() // a story", "story"),
    ])
    func aBannedWordIsFoundInCommentsAndTexts(_ source: String, _ expected: String) throws {
        #expect(try Self.uses(in: SourceText.prose(of: source)).map(\.text) == [expected])
    }

    @Test(arguments: [
        "let nobody = dice", "/// The pool closes the connection.", "f(\"is\", \"told\")",
        "/// Stories/PaddingTests.swift", "let text = \"\\(weather)\"", "/// illegal", "/// still",
        "// everybodyElse",
    ])
    func codeAndOtherWordsAreNot(_ source: String) throws {
        #expect(try Self.uses(in: SourceText.prose(of: source)).map(\.text) == [])
    }

    @Test func sourcesHaveTheNoun() throws {
        let prose = SourceText.prose(
            of: "/// The size is that\n/// of a page, besides those of others.")
        let uses = try Self.uses(in: prose, isSource: true)
        #expect(uses.map(\.text) == ["that of", "besides", "those of"])
        #expect(try Self.uses(in: prose).isEmpty, "other texts")
    }

    @Test func theLineIsThatOfTheWord() throws {
        let uses = try Self.uses(in: SourceText.prose(of: "let a = 1\n// fine\n/// whoever\n"))
        #expect(uses.map(\.line) == [3])
    }

    @Test func generatedTablesOfPagesAreCheckedAtTheirSource() throws {
        let page = "whom\n<!-- keys: Call -->\nnobody\n<!-- end of keys -->\nwhoever\n"
        let uses = try Self.uses(in: Self.withoutGeneratedTables(page))
        #expect(uses.map(\.text) == ["whom", "whoever"])
        #expect(uses.map(\.line) == [1, 5])
    }

    // MARK: Reading

    private struct File {
        let path: String
        let prose: String
    }

    private static func files() throws -> [File] { try read.get() }

    /// Once for all tests.
    private static let read = Result<[File], any Error> {
        let single = [
            "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Dockerfile",
            "Package.swift",
        ]
        let manager = FileManager.default
        let below = try ["docs", "config", "script", "Sources", "Tests"].flatMap { folder in
            try manager.subpathsOfDirectory(atPath: Sources.root.appending(path: folder).path)
                .filter { !$0.contains(".build") }.map { "\(folder)/\($0)" }
        }
        return try (single + below.sorted()).compactMap { path in
            let url = Sources.root.appending(path: path, directoryHint: .checkFileSystem)
            guard !url.hasDirectoryPath, let read = reader(of: path) else { return nil }
            return File(path: path, prose: read(try String(contentsOf: url, encoding: .utf8)))
        }
    }

    /// What of a file is prose; nil for files that have none.
    private static func reader(of path: String) -> ((String) -> String)? {
        let name = path.split(separator: "/").last ?? ""
        switch name.split(separator: ".").dropFirst().last {
        case "swift", "h", "c": return SourceText.prose
        case "md": return withoutGeneratedTables
        case "yaml", "csv": return { $0 }
        case nil where path.hasPrefix("script/") && path != "script/lib" || path == "Dockerfile":
            return { $0 }
        default: return nil
        }
    }

    /// A table that is generated from key descriptions is checked where these are.
    private static func withoutGeneratedTables(_ page: String) -> String {
        var isGenerated = false
        let lines = page.components(separatedBy: "\n").map { line in
            if line.hasPrefix("<!-- keys:") { isGenerated = true }
            if line.hasPrefix("<!-- end of keys") { isGenerated = false }
            return isGenerated ? "" : line
        }
        return lines.joined(separator: "\n")
    }

    private static func isAllowed(_ text: String, in path: String) -> Bool {
        allowed.contains { path.hasPrefix($0.path) && ($0.text.isEmpty || $0.text == text) }
    }

    private static let expression = Result { try expression(of: banned) }
    private static let expressionOfSources = Result { try expression(of: banned + bannedInSources) }

    /// `NSRegularExpression`, since it searches all sources in a moment.
    private static func expression(of words: [String]) throws -> NSRegularExpression {
        let words = words.joined(separator: "|").replacing(" ", with: "\\s+")
        return try NSRegularExpression(
            pattern: "(?<![\\w-])(?:\(words))(?![\\w])", options: .caseInsensitive)
    }

    /// The banned words of a text, with spaces for line ends, and the lines where they begin.
    private static func uses(
        in prose: String, isSource: Bool = false
    ) throws -> [(line: Int, text: String)] {
        let text = prose as NSString
        let all = NSRange(location: 0, length: text.length)
        let expression = try (isSource ? expressionOfSources : expression).get()
        return expression.matches(in: prose, range: all).map { match in
            let before = text.substring(to: match.range.location)
            let words = text.substring(with: match.range).split(whereSeparator: \.isWhitespace)
            return (before.count { $0 == "\n" } + 1, words.joined(separator: " "))
        }
    }
}
