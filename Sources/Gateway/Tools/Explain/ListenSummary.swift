import Basics
import HTTP
import TLS

/// The listeners in one line, as `check` and `explain` print them:
/// `https 0.0.0.0:443 (http/1.1; shop.test, +1 until 2027-02-01), http 0.0.0.0:80 -> https`.
struct ListenSummary {
    private let listeners: [ListenPlan]

    init(_ plan: Plan) {
        listeners = plan.process.listeners
    }

    /// Nil for a single address with HTTP/1.1 only, which needs no explanation.
    var text: String? {
        let hasProtocols = listeners.contains { $0.tls != nil || $0.protocols != [.http1] }
        guard listeners.count > 1 || hasProtocols else { return nil }
        return listeners.map(Self.text).joined(separator: ", ")
    }

    private static func text(of listener: ListenPlan) -> String {
        let address = listener.address.spelled
        if let tls = listener.tls { return "https \(address) (\(text(of: tls)))" }
        guard let redirect = listener.redirect else {
            return "http \(address)\(protocols(of: listener))"
        }
        return "http \(address) -> https\(redirect.port.map { ":\($0)" } ?? "")"
    }

    /// Nothing for HTTP/1.1 only.
    private static func protocols(of listener: ListenPlan) -> String {
        guard listener.protocols != [.http1] else { return "" }
        return " (\(listener.protocols.map(\.nameInALPN).joined(separator: ", ")))"
    }

    private static func text(of tls: ListenTLSPlan) -> String {
        let settings = tls.context.settings
        var parts = [settings.protocols.joined(separator: ", ")]
        if let certificates = text(of: tls.context.certificateFacts) { parts.append(certificates) }
        if settings.policy == .modern { parts.append("policy modern") }
        if let clients = settings.clients {
            parts.append("client certificates \(clients.isRequired ? "required" : "optional")")
        }
        return parts.joined(separator: "; ")
    }

    /// The first name, the number of others, and the first expiry.
    private static func text(of certificates: [TLSCertificate]) -> String? {
        var names: [String] = []
        for name in certificates.flatMap(\.names) where !names.contains(name) {
            names.append(name)
        }
        guard let first = names.first, let expiry = certificates.map(\.notAfter).min() else {
            return nil
        }
        let others = names.count > 1 ? ", +\(names.count - 1)" : ""
        return "\(first)\(others) until \(DateText(unixTime: expiry))"
    }
}
