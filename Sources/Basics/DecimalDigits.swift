/// At most eight decimal digits as the bytes of a word, the first one lowest.
struct DecimalDigits {
    private(set) var text: UInt64 = 0
    private(set) var count = 0

    /// - Parameters:
    ///   - value: less than 100,000,000
    ///   - digitsMin: zeros are put before a shorter number
    init(_ value: UInt64, atLeast digitsMin: Int = 1) {
        var rest = value
        repeat {
            text = text << 8 | (UInt64(UInt8(ascii: "0")) + rest % 10)
            rest /= 10
            count += 1
        } while rest > 0 || count < digitsMin
    }
}
