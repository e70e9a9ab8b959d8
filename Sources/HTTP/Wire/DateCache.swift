package import Basics

/// The text of the `Date` field (RFC 9110 5.6.7), updated once a second.
package struct DateCache {
    private var second = Int64.min
    private var line: [UInt8] = []

    package init() {}

    /// Appends `Date: …` with its line end to a head.
    ///
    /// - Parameter unixTime: nanoseconds since 1970.
    package mutating func append(to head: inout TextBuffer, unixTime: Int64) {
        let now = unixTime.flooredQuotient(by: 1_000_000_000).quotient
        if now != second {
            second = now
            line.removeAll(keepingCapacity: true)
            line.append(literal: "Date: ")
            line.append(httpDate: now)
            line.append(literal: "\r\n")
        }
        head.append(copying: line.span)
    }
}

extension [UInt8] {
    /// Appends a date as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package mutating func append(httpDate secondsSince1970: Int64) {
        let (days, time) = secondsSince1970.flooredQuotient(by: 86_400)
        let date = CivilDate(daysSince1970: days)
        append(literal: Self.dayName(of: days))
        append(literal: ", ")
        append(digits: 2, of: date.day)
        append(ASCII.space)
        append(literal: Self.monthName(date.month))
        append(ASCII.space)
        append(digits: 4, of: date.year)
        append(ASCII.space)
        append(digits: 2, of: time / 3600)
        append(ASCII.colon)
        append(digits: 2, of: time / 60 % 60)
        append(ASCII.colon)
        append(digits: 2, of: time % 60)
        append(literal: " GMT")
    }

    /// 1970-01-01 was a Thursday.
    private static func dayName(of days: Int64) -> StaticString {
        switch days.flooredQuotient(by: 7).remainder {
        case 0: "Thu"
        case 1: "Fri"
        case 2: "Sat"
        case 3: "Sun"
        case 4: "Mon"
        case 5: "Tue"
        default: "Wed"
        }
    }

    private static func monthName(_ month: Int64) -> StaticString {
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
