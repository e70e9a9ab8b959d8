import Basics

/// The minimum and maximum of a number, compared exactly.
struct NumberBounds {
    /// The bounds in the operator's spelling.
    let texts: Reason.Bounds
    /// The bounds in the grammar of JSON.
    private let least: Bytes?
    private let most: Bytes?

    init(min: Config.Number?, max: Config.Number?) {
        texts = Reason.Bounds(least: min?.text, most: max?.text)
        least = min?.json
        most = max?.json
    }

    /// Whether the text is a number of the required kind and within the bounds.
    func contain(_ text: Span<UInt8>, hasKind: (borrowing DecimalText) -> Bool) -> Bool {
        guard let number = DecimalText(text), hasKind(number) else { return false }
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
    /// Converts spellings that YAML has and JSON does not: `+5`, `.5`, `0x1F`.
    fileprivate var json: Bytes {
        if DecimalText(Bytes(text).span) != nil { return Bytes(text) }
        return Bytes(integer.map { "\($0)" } ?? "\(value)")
    }
}
