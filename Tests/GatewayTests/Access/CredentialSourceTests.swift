import Basics
import HTTP
import Testing

@testable import Gateway

/// Which credential a request has.
@Suite struct CredentialSourceTests {
    private func content(_ source: CredentialSource, _ lines: [(FieldName, String)]) -> String {
        var fields = Fields()
        for (name, value) in lines {
            if let value = FieldValue(value) { fields.append(name, value) }
        }
        switch source.content(of: fields) {
        case .none: return "none"
        case .credential(let bytes): return "'\(String(bytes))'"
        case .ambiguous: return "ambiguous"
        }
    }

    @Test(arguments: [
        ("Basic abc", "'abc'"), ("basic abc", "'abc'"), ("BASIC    abc", "'abc'"),
        ("Basic abc def", "'abc def'"), ("Basic", "''"), ("Bearer abc", "none"),
        ("Basicabc", "none"), ("Basi abc", "none"), ("", "none"), ("Basic\tabc", "none"),
        // 0x20 below a letter is another character, not another case.
        ("Ba3ic abc", "none"),
    ])
    func readsBasicCredentials(_ value: String, _ expected: String) {
        #expect(content(.basic, [(.authorization, value)]) == expected)
    }

    @Test func severalLinesAreAmbiguous() {
        #expect(content(.basic, []) == "none")
        #expect(
            content(.basic, [(.authorization, "Basic a"), (.authorization, "Bearer b")])
                == "ambiguous")
        let key = CredentialSource.apiKey("X-Api-Key")
        #expect(content(key, [("x-api-key", "a b")]) == "'a b'")
        #expect(content(key, [("X-Api-Key", "")]) == "''")
        #expect(content(key, [("X-Api-Key", "a"), ("X-API-KEY", "a")]) == "ambiguous")
        #expect(content(key, [(.authorization, "Basic a")]) == "none")
    }
}
