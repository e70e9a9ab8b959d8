import Basics
import Gateway
import HTTP
import Reactor

/// Decides which requests the admin server accepts: those that no foreign web page can have caused,
/// and that present the token, if one is configured.
///
/// A browser on the operator's machine can reach the admin address. A web page could read it by DNS
/// rebinding (its own host name, resolved to the admin address), or send cross-site requests, whose
/// responses it cannot read. `Host` reveals the former, `Origin` and `Sec-Fetch-Site` reveal the
/// latter. Tools such as curl send neither of these two headers and are not affected.
struct AdminGuard: Sendable {
    /// In lower case.
    private let hosts: Set<String>

    /// The paths of the pages that accept any `Host`.
    private static let probes = Set(AdminPages.table.filter(\.acceptsAnyHost).map(\.path))

    /// The paths of the pages that need no token.
    private static let pagesWithoutToken = Set(
        AdminPages.table.filter { !$0.needsToken }.map(\.path))

    private let token: BearerToken?

    /// - Parameters:
    ///   - hosts: names that are accepted in addition to IP addresses and local names
    ///   - token: the secret of requests; nil if they need none
    init(hosts: [String], token: String? = nil) {
        self.hosts = Set(hosts.map { $0.lowercased() } + ["localhost"])
        self.token = token.map { BearerToken($0) }
    }

    /// Why a request is refused.
    enum Refusal: Sendable, Equatable {
        /// Its host is not one of this server's (RFC 9110 15.5.20).
        case misdirected
        /// A page of another origin sent it.
        case crossSite
        /// It does not present the token (RFC 6750 3).
        case unauthorized

        var status: Status {
            switch self {
            case .misdirected: .misdirectedRequest
            case .crossSite: .forbidden
            case .unauthorized: .unauthorized
            }
        }

        var fields: Fields {
            switch self {
            case .misdirected, .crossSite: [:]
            // RFC 9110 15.5.2: a 401 has a challenge.
            case .unauthorized: ["WWW-Authenticate": "Bearer"]
            }
        }
    }

    /// Nil for a request that is accepted.
    func refusal(of head: RequestHead) -> Refusal? {
        let path = String(head.target.path)
        return refusal(
            of: head, acceptsAnyHost: Self.probes.contains(path),
            needsToken: !Self.pagesWithoutToken.contains(path))
    }

    /// Whether a request to a probe would be accepted by every page, so that the probe may reveal
    /// details.
    func permitsDetails(_ head: RequestHead) -> Bool {
        refusal(of: head, acceptsAnyHost: false, needsToken: true) == nil
    }

    private func refusal(
        of head: RequestHead, acceptsAnyHost: Bool, needsToken: Bool
    ) -> Refusal? {
        let authority = HostAndPort(head)
        if !acceptsAnyHost {
            guard let authority, isKnown(authority.host) else { return .misdirected }
        }
        if isCrossSite(head, authority) { return .crossSite }
        guard needsToken, let token, !token.isPresented(in: head) else { return nil }
        return .unauthorized
    }

    private func isKnown(_ host: String) -> Bool {
        if hosts.contains(host) || LocalName.isLocal(host) { return true }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        switch IPAddress(isBracketed ? String(host.dropFirst().dropLast()) : host) {
        case .v4?: return !isBracketed
        case .v6?: return isBracketed
        case nil: return false
        }
    }

    /// A foreign `Origin` is refused for every method, because a page sends one only to read the
    /// response or to change something. `Sec-Fetch-Site` is checked only for methods that change
    /// something, so that links to these pages work.
    private func isCrossSite(_ head: RequestHead, _ authority: HostAndPort?) -> Bool {
        for origin in head.fields.all("Origin") where !isOwn(String(origin.bytes), authority) {
            return true
        }
        guard head.method != .get, head.method != .head else { return false }
        return head.fields.all("Sec-Fetch-Site").contains { site in
            !["same-origin", "none"].contains(String(site.bytes).lowercased())
        }
    }

    /// Whether an origin names the requested host; `null` never is.
    private func isOwn(_ origin: String, _ authority: HostAndPort?) -> Bool {
        for (scheme, port) in [("http://", "80"), ("https://", "443")] {
            guard origin.lowercased().hasPrefix(scheme), let authority else { continue }
            let own = HostAndPort(String(origin.dropFirst(scheme.count)))
            return own.host == authority.host && own.port ?? port == authority.port ?? port
        }
        return false
    }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`, with syntax that has been checked.
private struct HostAndPort {
    /// In lower case; an IPv6 address has its brackets.
    let host: String
    /// Nil if the port is missing or empty.
    let port: String?

    init(_ text: String) {
        let afterLiteral = text.lastIndex(of: "]") ?? text.startIndex
        let colon = text[afterLiteral...].lastIndex(of: ":") ?? text.endIndex
        host = text[..<colon].lowercased()
        let port = text[colon...].dropFirst()
        self.port = port.isEmpty ? nil : String(port)
    }

    /// Reads the host of a request: an absolute target takes precedence over `Host` (RFC 9112
    /// 3.2.2). Nil if the request has neither, which HTTP/1.0 allows.
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
