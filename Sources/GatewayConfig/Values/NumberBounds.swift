import Basics

/// The smallest and the largest number that are allowed, compared exactly.
struct NumberBounds {
    /// As the operator wrote them.
    let texts: Reason.Bounds
    /// The same by the grammar of JSON.
    private let least: Bytes?
    private let most: Bytes?

    init(min: Config.Number?, max: Config.Number?) {
        texts = Reason.Bounds(least: min?.text, most: max?.text)
        least = min?.json
        most = max?.json
    }

    /// Whether the text is a number of a kind, and within the bounds.
    func hold(_ text: Span<UInt8>, isRight: (borrowing DecimalText) -> Bool) -> Bool {
        guard let number = DecimalText(text), isRight(number) else { return false }
        if let least, let bound = DecimalText(least.span), number.order(to: bound) < 0 {
            return false
        }
        if let most, let bound = DecimalText(most.span), number.order(to: bound) > 0 {
            return false
        }
        return true
    }
}

extension Config.Number {
    /// YAML writes numbers in ways that JSON does not have: `+5`, `.5`, `0x1F`.
    fileprivate var json: Bytes {
        if DecimalText(Bytes(text).span) != nil { return Bytes(text) }
        return Bytes(integer.map { "\($0)" } ?? "\(value)")
    }
}
