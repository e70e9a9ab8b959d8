package import Basics

/// A number in the grammar of JSON, compared exactly by its text: it is never converted to a
/// machine number, whatever the number of its digits and the size of its exponent.
struct DecimalText: ~Escapable {
    private let text: Span<UInt8>
    private let isNegative: Bool
    /// The digits before the decimal point, and those after it.
    private let whole: Range<Int>
    private let fraction: Range<Int>
    private let hasExponent: Bool
    /// The index of the first digit that is not zero; the number of digits if there is none.
    private let leading: Int
    /// The distance from that digit to the decimal point on its right, with the exponent applied.
    private let magnitude: Int

    /// Nil if the text is not a number of RFC 8259 section 6.
    @_lifetime(copy text)
    init?(_ text: Span<UInt8>) {
        var reader = DecimalReader(text)
        isNegative = reader.take(UInt8(ascii: "-"))
        whole = reader.takeDigits()
        if whole.isEmpty || (whole.count > 1 && text[whole.lowerBound] == UInt8(ascii: "0")) {
            return nil
        }
        let hasPoint = reader.take(UInt8(ascii: "."))
        fraction = hasPoint ? reader.takeDigits() : whole.upperBound..<whole.upperBound
        if hasPoint && fraction.isEmpty { return nil }
        hasExponent = reader.take(UInt8(ascii: "e")) || reader.take(UInt8(ascii: "E"))
        var exponent = 0
        if hasExponent {
            guard let written = reader.takeExponent() else { return nil }
            exponent = written
        }
        guard reader.isAtEnd else { return nil }
        self.text = text
        leading =
            text.zeros(in: whole) ?? (whole.count + (text.zeros(in: fraction) ?? fraction.count))
        magnitude = whole.count - leading + exponent
    }

    /// Whether it consists only of digits and an optional sign.
    var isPlainInteger: Bool { fraction.isEmpty && !hasExponent }

    /// Whether it is an integer with the exponent applied, as are `1.0` and `1e3`.
    var isWhole: Bool {
        var last = digitCount
        while last > leading, digit(last - 1) == UInt8(ascii: "0") { last -= 1 }
        return last - leading <= max(magnitude, 0)
    }

    /// Negative if this number is smaller, zero if the two are equal.
    func order(to other: borrowing DecimalText) -> Int {
        if sign != other.sign { return sign - other.sign }
        return sign * orderOfSize(to: other)
    }

    /// Appends the number in a spelling that all equal numbers have: an integer of at most
    /// `plainDigitsMax` digits as such, another number as its digits without zeros at their ends and
    /// the distance from the first one to the decimal point.
    func appendCanonical(to text: inout [UInt8]) {
        guard sign != 0 else { return text.append(UInt8(ascii: "0")) }
        if isNegative { text.append(UInt8(ascii: "-")) }
        var end = digitCount
        while digit(end - 1) == UInt8(ascii: "0") { end -= 1 }
        let isPlain = isWhole && magnitude <= Self.plainDigitsMax
        if isPlain { end = leading + magnitude }
        for index in leading..<end { text.append(digit(index)) }
        guard !isPlain else { return }
        text.append(UInt8(ascii: "e"))
        text.append(contentsOf: "\(magnitude)".utf8)
    }

    /// Whether it has the canonical spelling of an integer.
    var isCanonicalInteger: Bool {
        isPlainInteger && digitCount <= Self.plainDigitsMax && (sign != 0 || !isNegative)
    }

    /// More than any identifier has.
    private static let plainDigitsMax = 40

    private var digitCount: Int { whole.count + fraction.count }

    private var sign: Int { leading == digitCount ? 0 : isNegative ? -1 : 1 }

    /// For numbers with the same sign.
    private func orderOfSize(to other: borrowing DecimalText) -> Int {
        if sign == 0 { return 0 }
        if magnitude != other.magnitude { return magnitude < other.magnitude ? -1 : 1 }
        for offset in 0..<max(digitCount - leading, other.digitCount - other.leading) {
            let (mine, theirs) = (digit(leading + offset), other.digit(other.leading + offset))
            if mine != theirs { return mine < theirs ? -1 : 1 }
        }
        return 0
    }

    /// Zero after the last digit.
    private func digit(_ index: Int) -> UInt8 {
        if index < whole.count { return text[whole.lowerBound + index] }
        return index < digitCount
            ? text[fraction.lowerBound + index - whole.count] : UInt8(ascii: "0")
    }
}

/// Reads the parts of a number from the left.
private struct DecimalReader: ~Escapable {
    private let text: Span<UInt8>
    private var at = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) {
        self.text = text
    }

    var isAtEnd: Bool { at == text.count }

    mutating func take(_ byte: UInt8) -> Bool {
        guard at < text.count, text[at] == byte else { return false }
        at += 1
        return true
    }

    mutating func takeDigits() -> Range<Int> {
        let start = at
        while at < text.count, text[at] &- UInt8(ascii: "0") < 10 { at += 1 }
        return start..<at
    }

    /// Sign and digits; nil without a digit. Saturates at a value that no number of digits reaches.
    mutating func takeExponent() -> Int? {
        let isNegative = take(UInt8(ascii: "-"))
        if !isNegative { _ = take(UInt8(ascii: "+")) }
        let digits = takeDigits()
        if digits.isEmpty { return nil }
        var size = 0
        for index in digits {
            size = min(size * 10 + Int(text[index] &- UInt8(ascii: "0")), 1 << 56)
        }
        return isNegative ? -size : size
    }
}

extension Span<UInt8> {
    /// The number of leading zeros; nil if all digits are zero.
    fileprivate func zeros(in digits: Range<Int>) -> Int? {
        for index in digits where self[index] != UInt8(ascii: "0") {
            return index - digits.lowerBound
        }
        return nil
    }
}

extension Bytes {
    /// A JSON number in a spelling that all equal numbers have; nil for anything else.
    package var canonicalNumber: Bytes? {
        guard let number = DecimalText(span) else { return nil }
        if number.isCanonicalInteger { return self }
        var text: [UInt8] = []
        number.appendCanonical(to: &text)
        return Bytes(text)
    }

    /// Whether both texts are JSON numbers of the same value, in any spelling: `1.0` and `1e0`.
    package func isSameNumber(as other: Bytes) -> Bool {
        guard let left = DecimalText(span), let right = DecimalText(other.span) else {
            return false
        }
        return left.order(to: right) == 0
    }
}
