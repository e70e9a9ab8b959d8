/// A number with a unit, `1.5s`, `64KiB`, `50%`, converted to the smallest unit exactly, without
/// floating point.
package struct Quantity {
    /// The units of one kind of quantity, each with its size in the smallest unit.
    struct Units {
        let names: [(name: String, worth: Int)]
        let example: String
        let max: Int
        /// The spelling of `max` in messages.
        let maxText: String

        /// In nanoseconds. More than a year is an error, so that no sum of a few times overflows.
        static let time = Units(
            names: [
                ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
                ("h", 3_600_000_000_000),
            ], example: "300ms, 2s, 5m or 1h", max: 366 * 24 * 3_600_000_000_000,
            maxText: "8784h (366 days)")

        static let sizeNames: [(name: String, worth: Int)] = [
            ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
        ]

        /// In bytes.
        static func size(upTo max: Int) -> Units {
            Units(
                names: sizeNames,
                example: "64KiB or 1MiB", max: max, maxText: Quantity.spelled(bytes: max))
        }

        /// In millionths.
        static let share = Units(
            names: [("%", 10_000)], example: "50%", max: 1_000_000, maxText: "100%")
    }

    let amount: Int

    /// As a configuration spells it, in the greatest unit that leaves a whole number: `64KiB`.
    package static func spelled(bytes: Int) -> String {
        let unit = Units.sizeNames.last { bytes.isMultiple(of: $0.worth) }
        return "\(bytes / (unit?.worth ?? 1))\(unit?.name ?? "B")"
    }

    /// A share: `0.25%`.
    package static func spelled(millionths: Int) -> String {
        let digits = String(1_0000 + millionths % 1_0000).dropFirst()
        let fraction = String(digits.reversed().drop { $0 == "0" }.reversed())
        return "\(millionths / 1_0000)\(fraction.isEmpty ? "" : ".\(fraction)")%"
    }

    init(_ text: String, in units: Units, allowsZero: Bool) throws(Refusal) {
        let number = text.prefix { $0 == "." || ("0"..."9").contains($0) }
        let unit = text.dropFirst(number.count).drop { $0 == " " }
        guard !text.hasPrefix("-") else { throw Refusal("must not be negative") }
        guard !number.isEmpty else {
            throw Refusal("must be a number with a unit, such as \(fixed: units.example)")
        }
        guard !unit.isEmpty else {
            throw Refusal("has no unit; write it like \(fixed: units.example)")
        }
        guard let worth = units.names.first(where: { $0.name == unit })?.worth else {
            let known = units.names.map(\.name).joined(with: "or")
            throw Refusal(
                "has the unknown unit '\(unit)'; write it like \(fixed: units.example) (\(fixed: known))"
            )
        }
        guard number.count + unit.count == text.count else {
            throw Refusal("must be written without a space: \(number)\(unit)")
        }
        guard let amount = Self.scaled(number, by: worth) else {
            throw Refusal("must be a number with a unit, such as \(fixed: units.example)")
        }
        guard amount <= units.max else { throw Refusal("must be at most \(fixed: units.maxText)") }
        guard amount > 0 || allowsZero else { throw Refusal("must be more than 0") }
        self.amount = amount
    }

    /// The number times `worth`, rounded down and saturated; nil if the text is not a number.
    private static func scaled(_ number: Substring, by worth: Int) -> Int? {
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        guard let whole = Int(parts[0]) else { return .max }
        var (sum, overflow) = whole.multipliedReportingOverflow(by: worth)
        guard !overflow else { return .max }
        // Computed from all digits together: a power of two is not divisible by ten, so the worth of
        // each digit would be rounded. 18 digits, because 10^18 is the greatest power of ten in an Int.
        var (fraction, scale) = (0, 1)
        for digit in parts.dropFirst().joined().prefix(18) {
            fraction = fraction * 10 + (digit.wholeNumberValue ?? 0)
            scale *= 10
        }
        // Less than `worth`, because the fraction is less than its scale.
        let (rest, _) = scale.dividingFullWidth(fraction.multipliedFullWidth(by: worth))
        (sum, overflow) = sum.addingReportingOverflow(rest)
        return overflow ? .max : sum
    }
}
