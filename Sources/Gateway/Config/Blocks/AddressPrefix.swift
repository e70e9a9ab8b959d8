package import Reactor

/// A network: the addresses that begin with the same bits, such as `10.0.0.0/8` or `2001:db8::/32`.
///
/// An IPv4 address that is mapped into IPv6 (`::ffff:10.0.0.1`) counts as the IPv4 address, in
/// the network and in the addresses that are looked up.
package struct AddressPrefix: Sendable, Hashable {
    /// The first address; all bits after the prefix are zero.
    package let address: IPAddress
    /// 0 to 32 for IPv4, 0 to 128 for IPv6.
    let length: Int

    /// Why a text is not a network.
    package enum Fault: Error, Equatable {
        /// No valid address, or no valid length.
        case syntax
        /// Bits after the prefix are set; the payload is the network that is probably meant.
        case bitsAfterPrefix(AddressPrefix)
    }

    /// Reads `10.0.0.0/8`, or an address alone, which is a network of one.
    package init(_ text: String) throws(Fault) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let written = IPAddress(String(parts[0])) else { throw .syntax }
        var length = written.bits
        if parts.count > 1 {
            guard let number = Self.length(parts[1]), number <= written.bits else { throw .syntax }
            length = number
        }
        let address = written.unmapped
        if address.bits < written.bits {
            // The first 96 bits of a mapped address belong to the mapping.
            guard length >= 96 else { throw .syntax }
            length -= 96
        }
        let prefix = AddressPrefix(address.masked(to: length), length)
        guard prefix.address == address else { throw .bitsAfterPrefix(prefix) }
        self = prefix
    }

    private init(_ address: IPAddress, _ length: Int) {
        self.address = address
        self.length = length
    }

    package func contains(_ other: IPAddress) -> Bool {
        other.unmapped.masked(to: length) == address
    }

    /// Its last address: all bits after the prefix are one.
    package var lastAddress: IPAddress { address.filled(from: length) }

    /// Whether it contains every address of its version.
    var isEverything: Bool { length == 0 }

    /// Digits without a leading zero.
    private static func length(_ text: Substring) -> Int? {
        guard (1...3).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text == "0" || !text.hasPrefix("0")
        else { return nil }
        return Int(text)
    }
}

extension AddressPrefix: CustomStringConvertible {
    package var description: String { "\(address)/\(length)" }
}

extension IPAddress {
    /// The IPv4 address in a mapped one (RFC 4291 section 2.5.5.2), else the address itself.
    package var unmapped: IPAddress {
        guard case .v6(0, let low) = self, low >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }

    fileprivate var bits: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// With zeros after the first `length` bits. Swift's shifts give zero if the distance is at
    /// least the width of the number.
    fileprivate func masked(to length: Int) -> IPAddress {
        switch self {
        case .v4(let bits): .v4(bits & ~(UInt32.max >> length))
        case .v6(let high, let low):
            .v6(
                high & ~(UInt64.max >> length), low & ~(UInt64.max >> Swift.max(0, length - 64)))
        }
    }

    /// With ones after the first `length` bits.
    fileprivate func filled(from length: Int) -> IPAddress {
        switch self {
        case .v4(let bits): .v4(bits | UInt32.max >> length)
        case .v6(let high, let low):
            .v6(high | UInt64.max >> length, low | UInt64.max >> Swift.max(0, length - 64))
        }
    }
}
