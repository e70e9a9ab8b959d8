package import Basics

/// The value of `Retry-After` (RFC 9110 10.2.3): seconds, or a date.
package enum RetryAfter {
    /// Longer times count as this one.
    ///
    /// 10^9 seconds: longer than any wait, and small enough for sums.
    private static let secondsMax: Int64 = 1_000_000_000

    /// The seconds to wait; nil for a malformed value. A date in the past is zero.
    ///
    /// - Parameter unixTime: now, in nanoseconds since 1970
    package static func seconds(_ value: Bytes, at unixTime: Int64) -> Int64? {
        let text = String(value)
        if isDigits(text[...]) { return min(Int64(text) ?? secondsMax, secondsMax) }
        guard let date = seconds(ofDate: text) else { return nil }
        let now = unixTime.flooredQuotient(by: 1_000_000_000).quotient
        return min(max(0, date - now), secondsMax)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 5.6.7). The obsolete forms of
    /// dates are not read.
    private static func seconds(ofDate text: String) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            let day = number(words[1], digits: 2),
            let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], digits: 4),
            let days = CivilDate.daysSince1970(year: year, month: Int64(month) + 1, day: day)
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
            .map { number($0, digits: 2) }
        guard time.count == 3, let hours = time[0], let minutes = time[1], let seconds = time[2],
            hours < 24, minutes < 60, seconds <= 60
        else { return nil }
        return days * 86_400 + hours * 3_600 + minutes * 60 + seconds
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        text.utf8.count == digits && isDigits(text) ? Int64(text) : nil
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
