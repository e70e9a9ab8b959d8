import Testing

@testable import Process

struct CompactTextTests {
    private func compact(_ source: String, beside punctuation: String = "={}();,") -> String {
        String(
            decoding: CompactText.bytes(of: Array(source.utf8), beside: punctuation), as: UTF8.self)
    }

    @Test(arguments: [
        // Spaces beside punctuation, and only there.
        ("const a = 1", "const a=1\n"),
        ("return a in b", "return a in b\n"),
        // Indentation, empty lines and comments with a line of their own.
        ("\n    // why\n  /* what\n   * and how\n   */\n  a\n", "a\n"),
        ("a  // beside code", "a  // beside code\n"),
        // A line goes on behind an open end.
        ("if (a) {\n  b;\n}\n", "if(a){b;}"),
        ("a\nb", "a\nb\n"),
        // Texts, templates, and values in templates.
        ("f(\"a = b\" , c)", "f(\"a = b\",c)\n"),
        ("f(`a = ${g(\"x , y\")} = b` , c)", "f(`a = ${g(\"x , y\")} = b`,c)\n"),
        // Lines with regular expressions.
        ("a = /( = )/", "a = /( = )/\n"),
        ("é = \"ü , ö\"", "é=\"ü , ö\"\n"),
        ("", ""),
    ])
    func removesWhatABrowserDoesNotNeed(source: String, result: String) {
        #expect(compact(source) == result)
    }

    @Test func withoutPunctuationOnlyLinesShrink() {
        #expect(compact("  <p> a, b </p>\n", beside: "") == "<p> a, b </p>")
    }
}
