package import Basics
import HTTP
import Reactor

/// Values by host. An exact name goes before `*.name`, which is a host with exactly one label more.
///
/// Hosts are compared regardless of case, port and the dot at the end of a complete name; IPv6
/// addresses in any spelling. Both lists are sorted and searched by halves, so a thousand hosts cost
/// ten comparisons.
package struct HostTable {
    private var exact: [Entry] = []
    /// By what follows the `*`: `.example.com`.
    private var wildcards: [Entry] = []

    private struct Entry {
        /// In lower case; IPv6 addresses in brackets, in their canonical form.
        let host: Bytes
        let value: Int
    }

    /// - Parameter hosts: as in a configuration; of two that are equal the first one counts
    package init(_ hosts: [(host: String, value: Int)]) {
        for (host, value) in hosts {
            let entry = Entry(host: Bytes(HostSyntax.canonical(host)), value: value)
            if host.hasPrefix("*.") {
                Self.insert(
                    Entry(host: entry.host[1..<entry.host.count], value: value), into: &wildcards)
            } else {
                Self.insert(entry, into: &exact)
            }
        }
    }

    /// The values of a host: of its name, and of `*.name`.
    ///
    /// - Parameter authority: host and port of a request
    package func values(of authority: Bytes) -> (exact: Int?, wildcard: Int?) {
        guard let host = authority.host else { return (nil, nil) }
        let value = Self.value(of: host, in: exact)
        guard !wildcards.isEmpty, let dot = host.span.firstOffset(of: UInt8(ascii: ".")), dot > 0
        else { return (value, nil) }
        return (value, Self.value(of: host[dot..<host.count], in: wildcards))
    }

    private static func insert(_ entry: Entry, into entries: inout [Entry]) {
        let (index, isFound) = position(of: entry.host, in: entries)
        if !isFound { entries.insert(entry, at: index) }
    }

    private static func value(of host: Bytes, in entries: [Entry]) -> Int? {
        let (index, isFound) = position(of: host, in: entries)
        return isFound ? entries[index].value : nil
    }

    /// The index of a host, or the index to insert it at.
    private static func position(
        of host: Bytes, in entries: [Entry]
    ) -> (index: Int, isFound: Bool) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let entry = entries[middle].host
            switch entry.span.orderOfLowercased(host.span) {
            case 0: return (middle, true)
            case ..<0: low = middle + 1
            default: high = middle
            }
        }
        return (low, false)
    }
}

extension Bytes {
    /// The host of an authority, as `HostTable` compares it but for the case of its letters; nil if
    /// it is empty or no address.
    fileprivate var host: Bytes? {
        var end = endOfHost
        guard end > 0 else { return nil }
        if self[0] == UInt8(ascii: "[") {
            guard end > 2, let address = IPAddress(String(self[1..<(end - 1)])) else { return nil }
            return Bytes("[\(address)]")
        }
        if end > 1, self[end - 1] == UInt8(ascii: ".") { end -= 1 }
        return self[0..<end]
    }

    /// The offset of the port's colon, or the end.
    package var endOfHost: Int {
        var position = count
        while position > 0 {
            position -= 1
            switch self[position] {
            case UInt8(ascii: ":"): return position
            case UInt8(ascii: "0")...UInt8(ascii: "9"): continue
            default: return count
            }
        }
        return count
    }
}

extension Span<UInt8> {
    /// Negative if these bytes sort before the others in lower case, zero if they are equal.
    fileprivate func orderOfLowercased(_ other: Span<UInt8>) -> Int {
        for index in 0..<Swift.min(count, other.count) {
            let byte = other[index]
            let lower =
                byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
            if self[index] != lower { return Int(self[index]) - Int(lower) }
        }
        return count - other.count
    }
}
