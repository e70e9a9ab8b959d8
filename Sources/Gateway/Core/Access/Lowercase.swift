/// Comparison with texts of the configuration, which are stored in lower case.
extension Span<UInt8> {
    /// Whether the other text, of the same length, is this one in lower case.
    func equalsLowercased(_ other: Span<UInt8>) -> Bool {
        for index in indices {
            let byte = other[index]
            let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard self[index] == (isUpper ? byte | 0x20 : byte) else { return false }
        }
        return true
    }
}

extension [UInt8] {
    /// With ASCII letters in lower case.
    var lowercasedASCII: [UInt8] {
        map { byte in
            byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
        }
    }
}
