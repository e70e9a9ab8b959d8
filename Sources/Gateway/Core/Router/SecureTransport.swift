import Basics
import HTTP

/// Keeps `Strict-Transport-Security` of the configuration out of responses without TLS (RFC 6797 7.2).
///
/// A trusted proxy may encrypt the connection of the client.
struct SecureTransport {
    private let proxies: TrustedProxies

    /// Nil if no response has the field.
    init?(_ plan: Plan) {
        let headers = plan.endpoints.map(\.headers) + [plan.entry.headers]
        let fixed = headers.compactMap { $0?.fixed } + [plan.server.responseFields]
        guard fixed.contains(where: { $0.contains(.strictTransportSecurity) }) else { return nil }
        proxies = plan.proxies
    }

    /// Whether the client of the request receives the response over TLS.
    func isSecure(_ head: RequestHead, _ context: RequestContext) -> Bool {
        context.isSecure(context.clientAddress(of: head, proxies))
    }

    func removeFields(_ context: RequestContext) {
        context.responseFields.removeAll(.strictTransportSecurity)
    }
}

extension RequestContext {
    /// Whether the client receives the response over TLS.
    ///
    /// - Parameter client: needed where the connection does not use TLS; nil if it is unknown
    func isSecure(_ client: @autoclosure () -> ClientAddress?) -> Bool {
        if peer.facts?.isSecure == true { return true }
        guard let client = client(), client.isProxied, let scheme = client.proto else {
            return false
        }
        return scheme.span.equalsIgnoringCase("https")
    }
}

extension FieldName {
    fileprivate static var strictTransportSecurity: FieldName { "Strict-Transport-Security" }
}
