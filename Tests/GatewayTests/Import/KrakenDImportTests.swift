import Testing
import YAMLReader

@testable import Gateway

/// Configurations of KrakenD and what becomes of them; the expected texts stand beside each.
@Suite struct KrakenDImportTests {
    static let folder = "Tests/Fixtures/krakend"
    static let names = Golden.names(in: folder, endingIn: ".json")

    /// What is no configuration that can be read, on purpose.
    static let unreadable = ["broken.json", "version2.json"]

    @Test func thereAreSome() { #expect(Self.names.count >= 9) }

    @Test(arguments: names) func becomes(_ name: String) throws {
        let imported = KrakenDImport(
            Array(try Golden.text("\(Self.folder)/\(name)").utf8), file: name)
        let base = "\(Self.folder)/\(name.replacing(".json", with: ""))"
        try Golden.expect(
            base + ".notes", says: imported.problems.lines.map { $0 + "\n" }.joined())
        let isReadable = !Self.unreadable.contains(name)
        #expect((imported.text != nil) == isReadable)
        #expect((imported.problems.errorCount == 0) == isReadable)
        if let text = imported.text { try Golden.expect(base + ".yaml", says: text) }
    }

    /// Whatever was left out, the rest is a configuration.
    @Test(arguments: names.filter { !unreadable.contains($0) })
    func whatIsWrittenPassesTheCheck(_ name: String) throws {
        let name = name.replacing(".json", with: ".yaml")
        let text = try Golden.text("\(Self.folder)/\(name)")
        let (config, problems) = load([name: text], main: name)
        #expect(config != nil, "\(problems.lines)")
        let document = try YAMLReader.read(Array(text.utf8), file: name)
        #expect(try SchemaValidator(ConfigSchema.text).problems(of: document) == [])
    }

    /// The page "Coming from KrakenD" shows what really comes out.
    @Test func theManualShowsIt() throws {
        let page = try Golden.text("docs/coming-from-krakend.md")
        for (fence, file) in [("json", "manual.json"), ("yaml", "manual.yaml")] {
            let text = try Golden.text("\(Self.folder)/\(file)")
            #expect(page.contains("```\(fence)\n\(text)```"), "\(file)")
        }
        let notes = try Golden.text("\(Self.folder)/manual.notes")
        #expect(
            page.contains("```text\n\(notes.replacing("manual.json", with: "krakend.json"))```"))
    }

    // MARK: Texts

    /// Written and read again, a text is the same text.
    @Test(arguments: [
        "plain", "two words", "", " ", "null", "true", "1", "1.5", "-", "- a", "a: b", "a #b", "#a",
        "{a}", "[a]", "a,b", "it's", "\"q\"", "a\nb", "ünïcode", "/x/{id}?a=b&c=d", "@a", "*a",
        "&a",
        "!a", "%a", "`a", "a:", "~", "0x1", "1e3", ".", "..", "a{b}", "=", "?", "|", ">", "\t",
    ])
    func textsComeBack(_ text: String) throws {
        let tree = YAMLTree.block([
            ("block", .text(text)), ("list", .texts([text, text])),
            ("inline", .inline([("key", .text(text))])), (text.isEmpty ? "k" : text, .plain("1")),
        ])
        let lines = tree.lines.joined(separator: "\n")
        let document = try YAMLReader.read(Array(lines.utf8), file: "t.yaml")
        #expect(document["block"]?.text == text)
        #expect(document["list"]?.texts == [text, text])
        #expect(document["inline"]?["key"]?.text == text)
        #expect(document.members.last?.key == (text.isEmpty ? "k" : text))
    }

    @Test(arguments: [
        ("3s", "3s"), ("800ms", "800ms"), ("1m30s", "90s"), ("1.5s", "1500ms"), ("1h", "1h"),
        ("300us", "1ms"), ("0s", nil), ("0", nil), ("", nil), ("5", nil), ("s", nil),
    ])
    func durationsOfGo(_ text: String, _ expected: String?) throws {
        let node = try YAMLReader.read(Array("d: \"\(text)\"".utf8), file: "t.yaml")
        #expect(node["d"]?.goDuration?.spelled == expected)
    }
}
