import Basics
import HTTP
import Testing

@Suite struct FieldsTests {
    private let fields: Fields = ["A": "1", "B": "2", "a": "3"]

    @Test func findsNamesWithoutRegardToCase() {
        #expect(fields["a"] == "1")
        #expect(fields["b"] == "2")
        #expect(fields.all("A").map(\.description) == ["1", "3"])
        #expect(fields["C"] == nil && !fields.contains("C"))
    }

    @Test func storesTheLinesInWireFormat() {
        #expect(lines(of: fields) == "A: 1\r\nB: 2\r\na: 3\r\n")
    }

    @Test func removesAllOfAName() {
        var rest = fields
        rest.removeAll("A")
        #expect(lines(of: rest) == "B: 2\r\n")
        #expect(fields.count == 3)
    }

    @Test func setReplacesAllFieldsOfAName() {
        var rest = fields
        rest.set("a", "9")
        #expect(lines(of: rest) == "B: 2\r\na: 9\r\n")
    }

    @Test func appendsOthers() {
        var all: Fields = [:]
        all.append(fields)
        all.append(["C": "4"])
        #expect(lines(of: all) == "A: 1\r\nB: 2\r\na: 3\r\nC: 4\r\n")
        #expect(all["C"] == "4")
    }

    @Test func fieldsOfAParsedHeadCanBeChanged() throws {
        let head = try #require(firstHead(in: get("/path?q", "X-A: 1\r\n")))
        var fields = head.fields
        fields.append("X-B", "2")
        fields.removeAll("Host")
        #expect(lines(of: fields) == "X-A: 1\r\nX-B: 2\r\n")
        #expect(head.target.description == "/path?q")
    }

    @Test(arguments: ["a\r\nX: 1", "a\rb", "a\nb", "a\0b", "a\u{7f}", "\u{1b}["])
    func rejectsValuesThatCouldSplitAHead(_ text: String) {
        #expect(FieldValue(text) == nil)
    }

    @Test(arguments: [(" \ta b\t ", "a b"), ("", ""), (" ", "")])
    func trimsValues(_ text: String, _ value: String) {
        #expect(FieldValue(text)?.description == value)
    }

    @Test(arguments: ["", "a b", "a:", "a\r\n", "é", "a(b)"])
    func rejectsNamesThatAreNoTokens(_ text: String) {
        #expect(FieldName(text) == nil)
    }

    @Test func namesAreEqualWithoutRegardToCase() {
        #expect(FieldName("CONTENT-type") == .contentType)
        #expect(FieldName("content_type") != .contentType)
        // "@" and "`" differ by the bit that tells the cases of letters apart.
        #expect(FieldName("a`b") != FieldName("a^b"))
    }

    #if os(Linux)
        @Test func literalThatCouldSplitAHeadTraps() async {
            await #expect(processExitsWith: .failure) {
                let value: FieldValue = "a\r\nb"
                print(value)
            }
        }
    #endif
}

private func lines(of fields: Fields) -> String {
    String(copying: fields.wireText)
}
