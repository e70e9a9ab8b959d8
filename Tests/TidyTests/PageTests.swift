import Foundation
import Testing

/// The files that the document of the admin page is made of.
@Suite struct PageTests {
    private static let folder = Sources.root.appending(path: "Sources/Process/Admin/Page")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// All parts of the script.
    private static func script() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".js") }
        #expect(names.count > 10)
        return try names.map(text).joined(separator: "\n")
    }

    /// Text of clients becomes text nodes; nothing else is evaluated or loaded.
    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
        "DOMParser", "srcdoc", "javascript:", "https://", "import(", "localStorage",
    ])
    func theScriptContainsNothingThatMakesTextIntoCode(_ banned: String) throws {
        #expect(try !Self.script().contains(banned))
        #expect(try !Self.text("page.html").contains(banned))
    }

    @Test func theDocumentHasNoInlineStyleAndNoHandler() throws {
        let html = try Self.text("page.html")
        #expect(html.firstMatch(of: /\sstyle=|\son\w+=/) == nil)
        #expect(html.contains("<title>"), "the search finds something")
        #expect("<a onclick=x>".firstMatch(of: /\sstyle=|\son\w+=/) != nil)
    }
}
