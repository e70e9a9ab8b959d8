/// Times as RFC 3339 writes them, in UTC to the millisecond: `2026-03-01T09:30:00.125Z`.
///
/// Keeps the text of the current second, so that a busy log formats a date once a second.
package struct TimeStamp {
    private var second: Int64 = .min
    private var prefix: [UInt8] = []

    package init() {}

    /// The text for nanoseconds since 1970.
    package mutating func text(at unixTime: Int64) -> [UInt8] {
        let (seconds, rest) = Self.floored(unixTime, by: 1_000_000_000)
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
        let (day, time) = floored(second, by: 86_400)
        let date = civil(day: day)
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

    private static func floored(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64)
    {
        let rest = value % divisor
        return rest < 0 ? (value / divisor - 1, rest + divisor) : (value / divisor, rest)
    }

    /// The Gregorian date of a day counted from 1970-01-01, by whole 400-year cycles that begin on
    /// the first of March, so that a leap day is the last of its year.
    private static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (cycle, dayOfCycle) = floored(day + 719_468, by: 146_097)
        let yearOfCycle =
            (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfMonth)
    }
}

extension [UInt8] {
    /// Appends the last `count` decimal digits of a number that is not negative.
    fileprivate mutating func append(digits count: Int, of number: Int64) {
        var divisor: Int64 = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
