import Testing
import YAMLReader

/// YAML 1.2, section 10.3.2: the types of plain scalars.
@Suite struct CoreSchemaTests {
    @Test(arguments: [
        "yes", "no", "on", "off", "y", "1_000", "0x", "0o8", "1e", "+", ".", "-.", "1.2.3", "0b1",
        "tRue",
    ])
    func isString(_ text: String) {
        #expect(DocumentNode.Scalar(text: text, isPlain: true).type == .string)
    }

    @Test(arguments: [
        ("0", 0), ("-7", -7), ("+7", 7), ("007", 7), ("0x1F", 31), ("0o17", 15),
        ("9223372036854775807", Int.max), ("9223372036854775808", nil),
    ])
    func isInteger(_ text: String, value: Int?) {
        #expect(DocumentNode.Scalar(text: text, isPlain: true).type == .integer(value))
    }

    @Test(arguments: ["1.5", ".5", "1.", "-1e3", "1.5E-7", "+.inf", ".nan", "-.INF"])
    func isDecimal(_ text: String) {
        #expect(DocumentNode.Scalar(text: text, isPlain: true).type == .decimal)
    }

    @Test(arguments: ["", "~", "null", "Null", "NULL"])
    func isNull(_ text: String) {
        #expect(DocumentNode.Scalar(text: text, isPlain: true).type == .null)
    }

    @Test(arguments: [("true", true), ("True", true), ("FALSE", false)])
    func isBool(_ text: String, value: Bool) {
        #expect(DocumentNode.Scalar(text: text, isPlain: true).type == .bool(value))
    }

    @Test(arguments: ["null", "true", "1", ""])
    func quotedIsString(_ text: String) {
        #expect(DocumentNode.Scalar(text: text, isPlain: false).type == .string)
    }
}
