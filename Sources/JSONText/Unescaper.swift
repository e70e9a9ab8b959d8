/// Iterates over the unescaped bytes of the inside of a valid string.
struct Unescaper: ~Escapable {
    private let raw: Lookahead
    private var at = 0
    /// Bytes of a decoded scalar that were not returned yet, the next one in the lowest byte.
    private var pending: UInt32 = 0
    private var pendingCount = 0

    @_lifetime(copy raw)
    init(_ raw: Span<UInt8>) { self.raw = Lookahead(raw) }

    mutating func next() -> UInt8? {
        if pendingCount > 0 { return nextPending() }
        guard at < raw.count else { return nil }
        let byte = raw.byte(at)
        at &+= 1
        return byte == .backslash ? afterBackslash() : byte
    }

    private mutating func nextPending() -> UInt8 {
        let byte = UInt8(truncatingIfNeeded: pending)
        pending >>= 8
        pendingCount &-= 1
        return byte
    }

    private mutating func afterBackslash() -> UInt8 {
        let letter = raw.byte(at)
        at &+= 1
        switch letter {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"):
            encode(scalar())
            return nextPending()
        default: return letter
        }
    }

    /// The scalar of a `\u`, both halves where it is a surrogate pair.
    private mutating func scalar() -> UInt32 {
        let unit = codeUnit()
        guard unit & 0xF800 == 0xD800 else { return unit }
        at &+= 2
        return 0x10000 &+ ((unit & 0x03FF) << 10 | (codeUnit() & 0x03FF))
    }

    private mutating func codeUnit() -> UInt32 {
        var unit: UInt32 = 0
        for index in 0..<4 { unit = unit << 4 | (raw.byte(at &+ index).hexValue ?? 0) }
        at &+= 4
        return unit
    }

    private mutating func encode(_ scalar: UInt32) {
        func tail(_ shift: UInt32) -> UInt32 { 0x80 | (scalar >> shift & 0x3F) }
        switch scalar {
        case ..<0x80:
            (pending, pendingCount) = (scalar, 1)
        case ..<0x800:
            (pending, pendingCount) = (0xC0 | scalar >> 6 | tail(0) << 8, 2)
        case ..<0x10000:
            (pending, pendingCount) = (0xE0 | scalar >> 12 | tail(6) << 8 | tail(0) << 16, 3)
        default:
            pending = 0xF0 | scalar >> 18 | tail(12) << 8 | tail(6) << 16 | tail(0) << 24
            pendingCount = 4
        }
    }
}
