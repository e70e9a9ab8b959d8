import Basics
package import HTTP
import Reactor

/// `hosts`: the hosts that requests may name. A request for another one is misdirected (RFC 9110
/// 15.5.20); that also stops web pages that reach the gateway by DNS rebinding.
package final class AllowedHosts {
    /// In lower case; IPv6 addresses in brackets, in their canonical form.
    private let hosts: [Bytes]
    /// As they are configured.
    package let text: String

    /// Nil if every host is allowed.
    ///
    /// - Parameter text: the hosts as the configuration has them; nil for their names
    package init?(_ names: [String], text: String? = nil) {
        guard !names.isEmpty else { return nil }
        hosts = names.map { name in
            name.contains(":")
                ? Bytes("[\(IPAddress(name)?.description ?? name.lowercased())]")
                : Bytes(name.lowercased())
        }
        self.text = text ?? names.joined(separator: ", ")
    }

    /// An absolute target takes precedence over `Host` (RFC 9112 3.2.2). A request without either,
    /// which HTTP/1.0 permits, names no host.
    package func accepts(_ head: RequestHead) -> Bool {
        guard let authority = head.target.authority ?? head.fields[.host]?.bytes else {
            return false
        }
        return accepts(authority: authority)
    }

    /// Host and port of a request, in any case. The port is ignored, and so is the dot at the end
    /// of a complete name.
    func accepts(authority: Bytes) -> Bool {
        var end = authority.endOfHost
        guard end > 0 else { return false }
        if authority[0] == UInt8(ascii: "[") { return acceptsAddress(authority[0..<end]) }
        if end > 1, authority[end - 1] == UInt8(ascii: ".") { end -= 1 }
        return contains(authority[0..<end])
    }

    /// An IPv6 address has several spellings.
    private func acceptsAddress(_ host: Bytes) -> Bool {
        guard host.count > 2, let address = IPAddress(String(host[1..<(host.count - 1)])) else {
            return false
        }
        return contains(Bytes("[\(address)]"))
    }

    private func contains(_ host: Bytes) -> Bool {
        hosts.contains { $0.count == host.count && $0.span.equalsLowercased(host.span) }
    }
}

extension Bytes {
    /// The offset of the port's colon, or the end.
    var endOfHost: Int {
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
