import Basics
import Rehearsal
import SimReactor

/// Draws listeners with TLS or a redirect, and the handshakes of clients.
struct ListenerDraw {
    let random: RandomSource

    func listeners() -> [DrawnListener] {
        guard random.chance(0.5) else { return [] }
        var listeners = [DrawnListener(port: DrawnListener.redirectPort, tls: tls(0))]
        if random.chance(0.4) { listeners.append(DrawnListener(port: 8444, tls: tls(1))) }
        if random.chance(0.4) { listeners.append(DrawnListener(port: 8081, redirects: true)) }
        return listeners
    }

    private func tls(_ index: Int) -> DrawnListenTLS {
        let random = random.derived("tls", index)
        let clients = random.pick([
            SimServerPolicy.Clients.ignored, .optional, .optional, .required,
        ])
        return DrawnListenTLS(keys: random.keys(DrawnListenTLS.weights(clients), of: "ListenTLS"))
    }

    // MARK: Clients

    /// Sends valid requests to the backends.
    static let partner = "spiffe://shop/partner"
    /// Verified, but `san` does not list it.
    static let stranger = "spiffe://other/stranger"

    /// The client's part of a handshake; nil for a client without TLS.
    func hello(_ rates: FaultRates) -> SimHello? {
        guard random.chance(0.95) else { return nil }
        var hello = SimHello()
        hello.serverName = random.pick([
            "shop.test", "a.shop.test", "partners.test", "a.b.shop.test", "unknown.test", nil,
        ])
        hello.applicationProtocols = random.pick([
            [], ["http/1.1"], ["h2", "http/1.1"], ["http/1.1"], random.chance(0.3) ? ["h2"] : [],
        ])
        hello.certificate = random.maybe(0.7, certificate())
        if random.chance(rates[.failedHandshakes] * 2) { hello.behavior = .fails }
        if random.chance(rates[.failedHandshakes] * 2) { hello.behavior = .stalls }
        return hello
    }

    private func certificate() -> SimHello.Certificate {
        let name = random.pick([Self.partner, Self.partner, Self.stranger])
        return SimHello.Certificate(
            PeerIdentity(
                alternativeNames: [.init(.uri, name), .init(.dns, "client.test")],
                subject: "CN=client", certificate: Bytes(Array(name.utf8))),
            isTrusted: random.chance(0.9))
    }
}
