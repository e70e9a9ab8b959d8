/// Bits of the lengths and first letters of field names. Most names that are not among these have
/// other bits.
package struct FieldNameFilter: Sendable {
    private var bits: UInt64 = 0

    mutating func insert(_ name: Span<UInt8>) { bits |= Self.bit(of: name) }

    package func mayContain(_ name: Span<UInt8>) -> Bool { bits & Self.bit(of: name) != 0 }

    private static func bit(of name: Span<UInt8>) -> UInt64 {
        guard !name.isEmpty else { return 0 }
        let key = UInt64(truncatingIfNeeded: name.count &* 7) &+ UInt64(name[0] | 0x20)
        return 1 << (key & 63)
    }
}
