/// Times in the format of RFC 3339, in UTC to the millisecond: `2026-03-01T09:30:00.125Z`.
///
/// Caches the text of the current second, so that a busy log formats a date once a second.
package struct TimeStamp {
    private var second: Int64 = .min
    private var prefix: [UInt8] = []

    package init() {}

    /// The text for nanoseconds since 1970.
    package mutating func text(at unixTime: Int64) -> [UInt8] {
        let (seconds, rest) = unixTime.flooredQuotient(by: 1_000_000_000)
        if seconds != second {
            second = seconds
            prefix = Self.text(ofSecond: seconds)
        }
        var text = prefix
        text.append(UInt8(ascii: "."))
        text.append(digits: 3, of: rest / 1_000_000)
        text.append(UInt8(ascii: "Z"))
        return text
    }

    private static func text(ofSecond second: Int64) -> [UInt8] {
        let (day, time) = second.flooredQuotient(by: 86_400)
        let date = CivilDate(daysSince1970: day)
        var text: [UInt8] = []
        text.append(digits: 4, of: date.year)
        text.append(UInt8(ascii: "-"))
        text.append(digits: 2, of: date.month)
        text.append(UInt8(ascii: "-"))
        text.append(digits: 2, of: date.day)
        text.append(UInt8(ascii: "T"))
        text.append(digits: 2, of: time / 3_600)
        text.append(UInt8(ascii: ":"))
        text.append(digits: 2, of: time / 60 % 60)
        text.append(UInt8(ascii: ":"))
        text.append(digits: 2, of: time % 60)
        return text
    }
}
