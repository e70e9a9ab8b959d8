package import Basics
import HTTP
import Reactor

/// Values by host. An exact name goes before `*.name`, which is a host with exactly one label more.
///
/// Hosts are compared regardless of case, port and the dot at the end of a complete name; IPv6
/// addresses in any spelling.
package struct HostTable {
    /// By host as `HostSyntax.canonical` writes it.
    private var exact: [[UInt8]: Int] = [:]
    /// By what follows the `*`: `.example.com`.
    private var wildcards: [[UInt8]: Int] = [:]

    /// - Parameter hosts: as in a configuration; of two that are equal the first one counts
    package init(_ hosts: [(host: String, value: Int)]) {
        for (host, value) in hosts.reversed() {
            let name = Array(HostSyntax.canonical(host).utf8)
            if host.hasPrefix("*.") {
                wildcards[Array(name.dropFirst())] = value
            } else {
                exact[name] = value
            }
        }
    }

    /// The values of a host: of its name, and of `*.name`.
    ///
    /// - Parameter authority: host and port of a request
    package func values(of authority: Bytes) -> (exact: Int?, wildcard: Int?) {
        guard let host = authority.host?.array.lowercasedASCII else { return (nil, nil) }
        guard !wildcards.isEmpty, let dot = host.firstIndex(of: UInt8(ascii: ".")), dot > 0 else {
            return (exact[host], nil)
        }
        return (exact[host], wildcards[Array(host[dot...])])
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
