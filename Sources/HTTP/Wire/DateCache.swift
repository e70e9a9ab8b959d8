import Basics

/// The text of the `Date` field (RFC 9110 5.6.7), written anew once a second.
package struct DateCache {
    private var second = Int64.min
    private var line: [UInt8] = []

    package init() {}

    /// Appends `Date: …` with its line end to a head.
    ///
    /// - Parameter unixTime: nanoseconds since 1970.
    package mutating func append(to head: inout [UInt8], unixTime: Int64) {
        let now = Self.floor(unixTime, by: 1_000_000_000)
        if now != second {
            second = now
            line.removeAll(keepingCapacity: true)
            line.append(literal: "Date: ")
            line.append(httpDate: now)
            line.append(literal: "\r\n")
        }
        head.append(copying: line.span)
    }

    fileprivate static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

extension [UInt8] {
    /// Appends a date as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package mutating func append(httpDate secondsSince1970: Int64) {
        let days = DateCache.floor(secondsSince1970, by: 86_400)
        let time = Int(secondsSince1970 - days * 86_400)
        let date = CivilDate(daysSince1970: days)
        append(literal: Self.dayName(of: days))
        append(literal: ", ")
        append(twoDigits: date.day)
        append(ASCII.space)
        append(literal: Self.monthName(date.month))
        append(ASCII.space)
        append(twoDigits: date.year / 100)
        append(twoDigits: date.year % 100)
        append(ASCII.space)
        append(twoDigits: time / 3600)
        append(ASCII.colon)
        append(twoDigits: time / 60 % 60)
        append(ASCII.colon)
        append(twoDigits: time % 60)
        append(literal: " GMT")
    }

    private mutating func append(twoDigits number: Int) {
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10))
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    /// 1970-01-01 was a Thursday.
    private static func dayName(of days: Int64) -> StaticString {
        switch ((days % 7) + 7) % 7 {
        case 0: "Thu"
        case 1: "Fri"
        case 2: "Sat"
        case 3: "Sun"
        case 4: "Mon"
        case 5: "Tue"
        default: "Wed"
        }
    }

    private static func monthName(_ month: Int) -> StaticString {
        switch month {
        case 1: "Jan"
        case 2: "Feb"
        case 3: "Mar"
        case 4: "Apr"
        case 5: "May"
        case 6: "Jun"
        case 7: "Jul"
        case 8: "Aug"
        case 9: "Sep"
        case 10: "Oct"
        case 11: "Nov"
        default: "Dec"
        }
    }
}

/// A day of the Gregorian calendar. Years are counted from March, so that the leap day is the last
/// of a year, and in eras of 400 years, which all have the same number of days.
private struct CivilDate {
    let year: Int
    let month: Int
    let day: Int

    init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = DateCache.floor(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }
}
