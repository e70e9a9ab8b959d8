import Foundation
import Testing

/// The generated document of the admin page against the files that it is made of.
@Suite struct PageTests {
    private static let folder = Sources.root.appending(path: "Sources/Process/Admin/Page")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// The parts of the script, in the order of their names.
    private static func script() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.appending(path: "Source").path
        ).filter { $0.hasSuffix(".js") }.sorted()
        #expect(names.count > 10)
        return try "\n" + names.map { try text("Source/\($0)") }.joined(separator: "\n")
    }

    private static func style() throws -> String { try "\n" + text("Source/page.css") }

    @Test func theGeneratedDocumentIsCurrent() throws {
        let html = try Self.text("Source/page.html")
            .replacing("/* page.css */", with: Self.style())
            .replacing("/* page.js */", with: Self.script())
        let lines = html.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { $0.isEmpty ? "" : "        \($0)" }
        let generated = try Self.text("PageDocument.swift")
        #expect(
            generated.contains("##\"\"\"\n\(lines.joined(separator: "\n"))\n        \"\"\"##)"),
            "run script/page")
    }

    @Test func thePolicyNamesStyleAndScriptByTheirHashes() throws {
        let generated = try Self.text("PageDocument.swift")
        for (directive, source) in [
            ("script-src", try Self.script()), ("style-src", try Self.style()),
        ] {
            let digest = Data(SHA256.digest(of: Array(source.utf8))).base64EncodedString()
            #expect(generated.contains("\(directive) 'sha256-\(digest)';"), "run script/page")
        }
        #expect(generated.contains("\"default-src 'none'; script-src "))
        #expect(!generated.contains("unsafe-"))
    }

    /// The examples of FIPS 180-4's test vectors.
    @Test func theDigestOfTheTestIsSHA256() {
        func hex(_ text: String) -> String {
            SHA256.digest(of: Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        #expect(
            hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    /// Text of clients becomes text nodes; nothing else is evaluated or loaded.
    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
        "DOMParser", "srcdoc", "javascript:", "https://", "import(", "localStorage",
    ])
    func theScriptContainsNothingThatMakesTextIntoCode(_ banned: String) throws {
        #expect(try !Self.script().contains(banned))
        #expect(try !Self.text("Source/page.html").contains(banned))
    }

    @Test func theDocumentHasNoInlineStyleAndNoHandler() throws {
        let html = try Self.text("Source/page.html")
        #expect(html.firstMatch(of: /\sstyle=|\son\w+=/) == nil)
        #expect(html.contains("<title>"), "the search finds something")
        #expect("<a onclick=x>".firstMatch(of: /\sstyle=|\son\w+=/) != nil)
    }
}
