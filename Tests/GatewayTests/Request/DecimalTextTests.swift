import Basics
import Testing

@testable import Gateway

@Suite struct DecimalTextTests {
    @Test(arguments: [
        ("7", "7"), ("-7", "-7"), ("700", "700"), ("7e2", "700"), ("70.0", "70"), ("-0", "0"),
        ("0.25", "25e0"), ("-2.5", "-25e1"), ("1e40", "1e41"),
        ("1e39", "1" + String(repeating: "0", count: 39)),
    ])
    func hasACanonicalSpelling(_ text: String, _ canonical: String) {
        #expect(Bytes(text).canonicalNumber == Bytes(canonical))
    }

    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("0.0", "0"), ("0e99", "-0.00"), ("1", "1.000"), ("1e2", "100"),
        ("120", "1.2E+2"), ("0.5", "5e-1"), ("0.05", "0.5e-1"), ("-10", "-1e1"),
        ("100000000000000000000000000000001", "100000000000000000000000000000001.0"),
        ("1e400", "10e399"), ("0.001e3", "1"),
    ])
    func areEqual(_ left: String, _ right: String) {
        #expect(order(left, right) == 0)
        #expect(Bytes(left).canonicalNumber == Bytes(right).canonicalNumber)
    }

    @Test(arguments: [
        ("0", "1"), ("-1", "0"), ("-2", "-1"), ("-1", "1"), ("9", "10"), ("0.4", "0.5"),
        ("0.49999999999999999999999999999", "0.5"), ("9007199254740992", "9007199254740993"),
        ("99999999999999999999", "100000000000000000000"), ("1", "1e400"), ("-1e400", "1"),
        ("1e-400", "1"), ("0", "1e-400"), ("1e99999999999999999999", "1.1e99999999999999999999"),
        ("1e-99999999999999999999", "1"), ("12", "12.0001"), ("0.0123", "0.123"),
    ])
    func areInOrder(_ small: String, _ large: String) throws {
        #expect(Bytes(small).canonicalNumber != Bytes(large).canonicalNumber)
        #expect(try #require(order(small, large)) < 0)
        #expect(try #require(order(large, small)) > 0)
    }

    @Test(arguments: [
        "", "-", "+1", "01", "-01", ".5", "1.", "1.e1", "1e", "1e+", "1e1.5", " 1", "1 ", "0x10",
        "1_000", "Infinity", "NaN", "--1", "1-", "١",
    ])
    func isNoNumber(_ text: String) {
        #expect(Bytes(text).canonicalNumber == nil)
        #expect(order(text, "1") == nil)
    }

    @Test(arguments: [
        ("0", true), ("10", true), ("1.0", true), ("1e3", true), ("1.5e1", true), ("100e-2", true),
        ("0.0", true), ("0e-5", true), ("1.5", false), ("1e-1", false), ("0.1", false),
        ("120e-2", false), ("1e99999999999999999999", true), ("1e-99999999999999999999", false),
    ])
    func isWhole(_ text: String, _ isWhole: Bool) {
        #expect(DecimalText(Bytes(text).span)?.isWhole == isWhole)
    }

    @Test(arguments: [("-12", true), ("12.0", false), ("12e0", false)])
    func isPlain(_ text: String, _ isPlain: Bool) {
        #expect(DecimalText(Bytes(text).span)?.isPlainInteger == isPlain)
    }

    func order(_ left: String, _ right: String) -> Int? {
        let (left, right) = (Bytes(left), Bytes(right))
        guard let left = DecimalText(left.span), let right = DecimalText(right.span) else {
            return nil
        }
        return left.order(to: right)
    }
}
