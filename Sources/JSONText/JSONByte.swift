/// Names for the bytes of JSON's grammar.
extension UInt8 {
    static var quote: UInt8 { 0x22 }
    static var backslash: UInt8 { 0x5C }
    static var slash: UInt8 { 0x2F }
    static var comma: UInt8 { 0x2C }
    static var colon: UInt8 { 0x3A }
    static var openBrace: UInt8 { 0x7B }
    static var closeBrace: UInt8 { 0x7D }
    static var openBracket: UInt8 { 0x5B }
    static var closeBracket: UInt8 { 0x5D }
    static var minus: UInt8 { 0x2D }
    static var plus: UInt8 { 0x2B }
    static var dot: UInt8 { 0x2E }
    static var zero: UInt8 { 0x30 }
    static var nine: UInt8 { 0x39 }
    static var space: UInt8 { 0x20 }

    @inline(__always)
    var isDigit: Bool { self &- 0x30 < 10 }

    /// The value of the byte as a hexadecimal digit.
    @inline(__always)
    var hexValue: UInt32? {
        if isDigit { return UInt32(self &- 0x30) }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? UInt32(letter) + 10 : nil
    }
}
