import Basics

extension Duration {
    /// Reads what a configuration may spell: `800ms`, `5s`; nil if it is no time, or zero.
    package init?(spelled text: String) {
        guard let time = try? Quantity(text, in: .time, allowsZero: false) else { return nil }
        self = .nanoseconds(time.amount)
    }

    /// As a configuration spells it, in the greatest unit that leaves a whole number: `800ms`,
    /// `5s`.
    package var spelled: String {
        let units: [(name: String, worth: Int64)] = [
            ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
            ("ms", 1_000_000),
        ]
        let amount = inNanoseconds
        guard amount != 0 else { return "0ms" }
        for unit in units where amount.isMultiple(of: unit.worth) {
            return "\(amount / unit.worth)\(unit.name)"
        }
        return "\(inMilliseconds)ms"
    }
}
