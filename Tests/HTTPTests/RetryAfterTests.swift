import Basics
import HTTP
import Testing

@Suite struct RetryAfterTests {
    /// 1994-11-06 08:49:37 UTC.
    private static let time: Int64 = 784_111_777_000_000_000

    @Test(arguments: [
        ("0", 0), ("120", 120), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Sun, 06 Nov 1994 08:50:40 GMT", 63), ("Mon, 07 Nov 1994 08:49:37 GMT", 86_400),
        ("Thu, 29 Feb 1996 00:00:00 GMT", 41_440_223), ("Sun, 06 Nov 1993 08:49:37 GMT", 0),
    ])
    func isSecondsOrADate(_ value: String, _ seconds: Int64) {
        #expect(RetryAfter.seconds(Bytes(value), at: Self.time) == seconds)
    }

    /// Not malformed, which would mean no wait.
    @Test(arguments: [
        "9999999999", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT",
    ])
    func aLongTimeIsLimited(_ value: String) {
        #expect(RetryAfter.seconds(Bytes(value), at: Self.time) == 1_000_000_000)
    }

    @Test(arguments: [
        "", "-1", "+1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Thu, 30 Feb 1995 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    ])
    func malformedValuesAreIgnored(_ value: String) {
        #expect(RetryAfter.seconds(Bytes(value), at: Self.time) == nil)
    }
}
