import Basics
import Testing

@testable import HTTP

/// The fields that an intermediary passes on.
@Suite struct EndToEndFieldsTests {
    private func names(of fields: Fields) -> [String] {
        let rest = fields.endToEnd(reserving: 0) { _ in true }
        return ["A", "B-b", "C", "Upgrade", "Proxy-X", "Connection"].filter { name in
            FieldName(name).map(rest.contains) ?? false
        }
    }

    private func fields(_ connection: [String]) throws -> Fields {
        var fields: Fields = ["A": "1", "B-b": "2", "Upgrade": "x", "Proxy-X": "3"]
        for value in connection { fields.append("Connection", try #require(FieldValue(value))) }
        fields.append("C", "4")
        return fields
    }

    @Test(arguments: [
        ([], ["A", "B-b", "C"]), (["keep-alive"], ["A", "B-b", "C"]),
        (["close"], ["A", "B-b", "C"]),
        (["b-B"], ["A", "C"]), (["close, B-b ,, c"], ["A"]), (["a", "x", "c"], ["B-b"]),
        (["b", "B-", "B-bb"], ["A", "B-b", "C"]),
    ])
    func fieldsThatConnectionNamesAreRemoved(_ connection: [String], _ expected: [String]) throws {
        #expect(names(of: try fields(connection)) == expected)
    }

    @Test func theLastOfManyOptionsCountsToo() throws {
        let options = (0..<5_000).map { "o\($0)" } + ["C"]
        #expect(names(of: try fields([options.joined(separator: ",")])) == ["A", "B-b"])
    }

    /// A CGI program would get it as `HTTP_PROXY`.
    @Test func proxyDoesNotPass() {
        let fields: Fields = ["Proxy": "http://evil", "pRoXy": "1", "Proxyy": "2", "X-Proxy": "3"]
        let rest = fields.endToEnd(reserving: 0) { _ in true }
        #expect(rest.map { String($0.name) } == ["Proxyy", "X-Proxy"])
    }

    @Test(arguments: [
        ("X-User", "X-User"), ("X_User", "X-User"), ("x.user~1", "x-user-1"), ("A", "A"),
    ])
    func hyphenatedNamesAreThoseOfVariables(_ name: String, _ expected: String) throws {
        let name = try #require(FieldName(name))
        #expect(name.hyphenated == FieldName(expected))
    }
}
