import Basics
package import HTTP
import Reactor

/// Which requests the admin address answers: those that no foreign web page can have caused.
///
/// A browser on the operator's machine reaches the admin address. A page could read it by DNS
/// rebinding (its own host name, resolved to the admin address), or send requests to it that it
/// cannot read the answers of (cross-site requests). The first shows in `Host`, the second in `Origin`
/// and `Sec-Fetch-Site`. Tools such as curl send none of the latter two and are not affected.
package struct AdminGuard: Sendable {
    /// In lower case.
    private let hosts: Set<String>

    /// The paths of the pages that accept any `Host`.
    private static let probes = Set(AdminPages.table.filter(\.acceptsAnyHost).map(\.path))

    /// - Parameter hosts: names that are accepted beside IP addresses and local names
    package init(hosts: [String]) {
        self.hosts = Set(hosts.map { $0.lowercased() } + ["localhost"])
    }

    /// Why a request is refused.
    package enum Refusal: Sendable, Equatable {
        /// Its host is not one of this server's (RFC 9110 15.5.20).
        case misdirected
        /// A page of another origin sent it.
        case crossSite

        package var status: Status {
            switch self {
            case .misdirected: .misdirectedRequest
            case .crossSite: .forbidden
            }
        }
    }

    /// Nil for a request that is answered.
    package func refusal(of head: RequestHead) -> Refusal? {
        let authority = HostAndPort(head)
        if !Self.probes.contains(String(head.target.path)) {
            guard let authority, isKnown(authority.host) else { return .misdirected }
        }
        return isCrossSite(head, authority) ? .crossSite : nil
    }

    private func isKnown(_ host: String) -> Bool {
        if hosts.contains(host) || isLocalName(host) { return true }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        switch IPAddress(isBracketed ? String(host.dropFirst().dropLast()) : host) {
        case .v4?: return !isBracketed
        case .v6?: return isBracketed
        case nil: return false
        }
    }

    /// Whether no foreign page can have the name, because public DNS does not: a name without a dot,
    /// such as a service's in a container network, or one below a reserved domain, such as a
    /// cluster's `gateway.shop.svc.cluster.local`.
    private func isLocalName(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last, labels.allSatisfy(Self.isLabel) else { return false }
        if labels.count == 1 { return !last.allSatisfy(\.isNumber) }
        return Self.reserved.contains(String(last)) || host.hasSuffix(".home.arpa")
    }

    /// RFC 6761 (localhost, test), RFC 6762 (local), and ICANN's reservation of internal.
    private static let reserved: Set<String> = ["localhost", "test", "local", "internal"]

    private static func isLabel(_ label: Substring) -> Bool {
        !label.isEmpty
            && label.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// A foreign `Origin` is refused whatever the method, since a page would only send one to read
    /// the answer or to change something. `Sec-Fetch-Site` is looked at only where something is
    /// changed, so that links to these pages work.
    private func isCrossSite(_ head: RequestHead, _ authority: HostAndPort?) -> Bool {
        for origin in head.fields.all("Origin") where !isOwn(String(origin.bytes), authority) {
            return true
        }
        guard head.method != .get, head.method != .head else { return false }
        return head.fields.all("Sec-Fetch-Site").contains { site in
            !["same-origin", "none"].contains(String(site.bytes).lowercased())
        }
    }

    /// Whether an origin is that of the requested host; `null` is not.
    private func isOwn(_ origin: String, _ authority: HostAndPort?) -> Bool {
        for (scheme, port) in [("http://", "80"), ("https://", "443")] {
            guard origin.lowercased().hasPrefix(scheme), let authority else { continue }
            let own = HostAndPort(String(origin.dropFirst(scheme.count)))
            return own.host == authority.host && own.port ?? port == authority.port ?? port
        }
        return false
    }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`, whose syntax has been checked.
private struct HostAndPort {
    /// In lower case, an IPv6 address in its brackets.
    let host: String
    /// Nil where there is none, or an empty one.
    let port: String?

    init(_ text: String) {
        let afterLiteral = text.lastIndex(of: "]") ?? text.startIndex
        let colon = text[afterLiteral...].lastIndex(of: ":") ?? text.endIndex
        host = text[..<colon].lowercased()
        let port = text[colon...].dropFirst()
        self.port = port.isEmpty ? nil : String(port)
    }

    /// That of a request: an absolute target takes precedence over `Host` (RFC 9112 3.2.2). Nil
    /// where there is neither, which HTTP/1.0 allows.
    init?(_ head: RequestHead) {
        if let authority = head.target.authority {
            self.init(String(authority))
        } else if let host = head.fields[.host] {
            self.init(String(host.bytes))
        } else {
            return nil
        }
    }
}
