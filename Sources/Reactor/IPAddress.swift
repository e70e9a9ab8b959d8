import Basics

/// An internet address, version 4 or 6, as a number in network byte order.
package enum IPAddress: Sendable, Hashable {
    /// 192.0.2.1 is 0xC000_0201.
    case v4(UInt32)
    /// The first and the last eight bytes: 2001:db8::1 is (0x2001_0db8_0000_0000, 1).
    case v6(UInt64, UInt64)
}

extension IPAddress: LosslessStringConvertible {
    /// Reads `192.0.2.1` or a form of RFC 4291 section 2.2 (`2001:db8::1`, `::ffff:192.0.2.1`).
    /// Zones, brackets, octal numbers and shortened IPv4 forms are invalid, since parsers disagree
    /// about them.
    package init?(_ text: String) {
        if let bits = IPAddress.v4Bits(text[...]) {
            self = .v4(bits)
        } else if let groups = IPAddress.v6Groups(text) {
            self = .v6(IPAddress.half(groups[..<4]), IPAddress.half(groups[4...]))
        } else {
            return nil
        }
    }

    /// The canonical form of RFC 5952 for version 6, dotted decimal for version 4.
    package var description: String {
        switch self {
        case .v4(let bits): IPAddress.dotted(bits)
        case .v6(0, let low) where low >> 32 == 0xFFFF:
            "::ffff:" + IPAddress.dotted(UInt32(truncatingIfNeeded: low))  // section 5
        case .v6(let high, let low): IPAddress.canonical(high, low)
        }
    }
}

// MARK: Reading

extension IPAddress {
    private static func v4Bits(_ text: Substring) -> UInt32? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard part.count == 1 || part.first != UInt8(ascii: "0"),
                let value = number(part, radix: 10, digitsMax: 3), value <= 255
            else { return nil }
            bits = bits << 8 | value
        }
        return bits
    }

    /// All eight groups, or nil. One `::` replaces one or more groups of zero.
    private static func v6Groups(_ text: String) -> [UInt32]? {
        guard let gap = firstGap(text) else {
            guard let all = groups(text[...]), all.count == 8 else { return nil }
            return all
        }
        guard let before = groups(text[..<gap], mayEndDotted: false),
            let after = groups(text[text.utf8.index(gap, offsetBy: 2)...]),
            before.count + after.count <= 7
        else { return nil }
        return before + Array(repeating: 0, count: 8 - before.count - after.count) + after
    }

    /// Where the first `::` begins.
    private static func firstGap(_ text: String) -> String.Index? {
        let colon = UInt8(ascii: ":")
        return zip(text.utf8.indices, text.utf8.indices.dropFirst())
            .first { text.utf8[$0] == colon && text.utf8[$1] == colon }?.0
    }

    /// Groups between single colons; the last may be a version 4 address, which makes two.
    private static func groups(_ text: Substring, mayEndDotted: Bool = true) -> [UInt32]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt32] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if let group = number(part.utf8, radix: 16, digitsMax: 4) {
                groups.append(group)
            } else if mayEndDotted, index == parts.count - 1, let bits = v4Bits(part) {
                groups += [bits >> 16, bits & 0xFFFF]
            } else {
                return nil
            }
        }
        return groups
    }

    /// Digits and nothing else: no sign, no space.
    static func number(_ digits: Substring.UTF8View, radix: UInt32, digitsMax: Int) -> UInt32? {
        guard (1...digitsMax).contains(digits.count) else { return nil }
        var value: UInt32 = 0
        for digit in digits {
            let worth: UInt32
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): worth = UInt32(digit) - 0x30
            case UInt8(ascii: "a")...UInt8(ascii: "f"): worth = UInt32(digit) - 0x61 + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): worth = UInt32(digit) - 0x41 + 10
            default: return nil
            }
            guard worth < radix else { return nil }
            value = value * radix + worth
        }
        return value
    }

    private static func half(_ groups: ArraySlice<UInt32>) -> UInt64 {
        groups.reduce(0) { $0 << 16 | UInt64($1) }
    }
}

// MARK: Printing

extension [UInt8] {
    /// Appends the text of an address; see `IPAddress.description`.
    package mutating func append(_ address: IPAddress) {
        guard case .v4(let bits) = address else { return append(address.description) }
        append(addingCapacity: 15) { text in
            for shift: UInt32 in [24, 16, 8, 0] {
                text.append(decimal: UInt8(truncatingIfNeeded: bits >> shift))
                if shift > 0 { text.append(UInt8(ascii: ".")) }
            }
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends one to three digits.
    fileprivate mutating func append(decimal byte: UInt8) {
        let zero = UInt8(ascii: "0")
        if byte >= 100 { append(zero + byte / 100) }
        if byte >= 10 { append(zero + byte / 10 % 10) }
        append(zero + byte % 10)
    }
}

extension IPAddress {
    private static func dotted(_ bits: UInt32) -> String {
        let bytes = [24, 16, 8, 0].map { shift in UInt8(truncatingIfNeeded: bits >> shift) }
        return bytes.map(String.init).joined(separator: ".")
    }

    /// RFC 5952 section 4: lower case, no leading zeros, the longest run of at least two zero
    /// groups shortened, the first of several equally long.
    private static func canonical(_ high: UInt64, _ low: UInt64) -> String {
        let groups = split(high) + split(low)
        let gap = longestZeroRun(groups)
        guard gap.count >= 2 else { return joined(groups[...]) }
        return joined(groups[..<gap.lowerBound]) + "::" + joined(groups[gap.upperBound...])
    }

    private static func split(_ half: UInt64) -> [UInt16] {
        [48, 32, 16, 0].map { shift in UInt16(truncatingIfNeeded: half >> shift) }
    }

    private static func joined(_ groups: ArraySlice<UInt16>) -> String {
        groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        for end in 1...groups.count {
            if groups[end - 1] != 0 {
                start = end
            } else if end - start > longest.count {
                longest = start..<end
            }
        }
        return longest
    }
}
