import Basics

/// The value of `Retry-After` (RFC 9110 10.2.3): seconds, or a date.
enum RetryAfter {
    /// The time to wait; nil for a malformed value. A date in the past is zero.
    ///
    /// - Parameter unixTime: now, in nanoseconds since 1970
    static func duration(_ value: Bytes, at unixTime: Int64) -> Duration? {
        let text = String(value)
        if let seconds = number(text[...], digits: 1...9) { return .seconds(seconds) }
        guard let date = seconds(ofDate: text) else { return nil }
        return .seconds(max(0, date - unixTime.flooredQuotient(by: 1_000_000_000).quotient))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 5.6.7). The obsolete forms of
    /// dates are not read.
    private static func seconds(ofDate text: String) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            let day = number(words[1], digits: 2...2), (1...31).contains(day),
            let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], digits: 4...4), year >= 1970
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
            .map { number($0, digits: 2...2) }
        guard time.count == 3, let hours = time[0], let minutes = time[1], let seconds = time[2],
            hours < 24, minutes < 60, seconds <= 60
        else { return nil }
        return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + hours * 3_600
            + minutes * 60 + seconds
    }

    /// Days since 1970. Years begin on the first of March here, so that a leap day is the last of its
    /// year.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let yearFromMarch = month > 2 ? year : year - 1
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        return yearFromMarch * 365 + leapDays + (153 * monthFromMarch + 2) / 5 + day - 1 - 719_468
    }

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int64? {
        guard digits.contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
