/// A day in UTC: `2026-10-01`.
package struct DateText: CustomStringConvertible {
    package let description: String

    package init(unixTime seconds: Int64) {
        let date = CivilDate(daysSince1970: seconds.flooredQuotient(by: 86_400).quotient)
        description =
            "\(date.year)-\(Self.twoDigits(date.month))-\(Self.twoDigits(date.day))"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
