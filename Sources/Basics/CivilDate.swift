/// A day of the Gregorian calendar, for writing dates.
package struct CivilDate {
    package let year: Int64
    package let month: Int64
    package let day: Int64

    /// By whole cycles of 400 years, which all have the same number of days. Years begin on the
    /// first of March here, so that a leap day is the last of its year.
    package init(daysSince1970 days: Int64) {
        let (cycle, dayOfCycle) = (days + 719_468).flooredQuotient(by: 146_097)
        let yearOfCycle =
            (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of a day; nil for a day that does not exist.
    ///
    /// - Parameter year: 0 to 9999
    package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[Int(month) - 1] else { return nil }
        let yearFromMarch = month <= 2 ? year - 1 : year
        let (cycle, yearOfCycle) = yearFromMarch.flooredQuotient(by: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return cycle * 146_097 + dayOfCycle - 719_468
    }
}

extension Int64 {
    /// The quotient rounded down and the remainder, which is never negative.
    @inlinable
    package func flooredQuotient(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    /// Appends the last `count` decimal digits of a number that is not negative.
    package mutating func append(digits count: Int, of number: Int64) {
        var divisor: Int64 = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
