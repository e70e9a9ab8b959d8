import Basics
import Rehearsal
import SimReactor

/// Handshakes with listeners that have TLS: they succeed exactly if the settings of their listener allow
/// it, and none lasts longer than `handshake_timeout`. Requests without encryption get 400 there, and
/// nothing but 308 comes from a listener that redirects.
struct HandshakesCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for client in record.clients {
            guard let handshake = client.handshake else { continue }
            let listener = record.configs[0].listeners[handshake.listener]
            if let tls = listener.tls {
                check(client, handshake, tls)
            } else {
                for request in client.sent { checkRedirect(request) }
            }
        }
    }

    private func add(_ client: ClientRecord, _ text: String) {
        violations.add(.handshakes, nil, "client \(client.number): \(text)")
    }

    private func check(
        _ client: ClientRecord, _ handshake: HandshakeRecord, _ tls: DrawnListenTLS
    ) {
        guard let hello = handshake.hello else {
            for request in client.sent { checkPlainText(request) }
            return
        }
        let mustSucceed = tls.policy.session(for: hello) != nil
        if handshake.secured != nil, !mustSucceed {
            return add(client, "a handshake succeeded that its listener must refuse")
        }
        guard let connected = handshake.connected, !isExcused(client, if: mayBeRefused) else {
            return
        }
        let limit =
            connected + .milliseconds(tls.handshakeTimeout) + record.network.longestLatency * 2
        if handshake.secured == nil {
            if mustSucceed, record.drains == nil, !isSlow(tls) {
                add(client, "a handshake failed that its listener must accept")
            }
            let closed = handshake.gatewayClosed ?? client.disconnected ?? record.ended
            if closed > limit, record.drains == nil {
                add(client, "a handshake lasted \(closed - connected)")
            }
        } else if let secured = handshake.secured, secured > limit {
            add(client, "a handshake lasted \(secured - connected)")
        }
    }

    private func isExcused(_ client: ClientRecord, if applies: Bool) -> Bool {
        for request in client.sent { record.excuses.add(.serverLimit, request, if: applies) }
        return applies
    }

    /// A limit may close a connection before its handshake, or let it wait in the queue of the kernel.
    private var mayBeRefused: Bool {
        record.configs.contains { $0.limits.limitsConnections } || record.mayLackRoom
    }

    /// Whether packets may take longer than the handshake may.
    private func isSlow(_ tls: DrawnListenTLS) -> Bool {
        record.network.longestLatency * 6 > .milliseconds(tls.handshakeTimeout)
    }

    // MARK: Requests

    private func checkPlainText(_ request: RequestRecord) {
        guard let response = request.response else { return }
        if response.status != 400, response.status != 503 {
            violations.add(
                .handshakes, request.mark,
                "\(response.status) without encryption, at a listener with TLS")
        }
    }

    /// The same host and target, with https.
    private func checkRedirect(_ request: RequestRecord) {
        guard let response = request.response else { return }
        guard response.status == 308 else {
            // Refused before.
            if response.status < 400 {
                violations.add(.handshakes, request.mark, "a redirect with \(response.status)")
            }
            return
        }
        let target =
            String(
                decoding: request.request.bytes.prefix { $0 != 0x0D }, as: UTF8.self
            ).split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let host = request.request.hostWithoutPort
        let expected = "https://\(host):\(DrawnListener.redirectPort)\(target)"
        if response["Location"] != expected {
            violations.add(
                .handshakes, request.mark,
                "redirected to \(response["Location"] ?? "nothing"), expected \(expected)")
        }
    }
}

extension ScriptedRequest {
    fileprivate var hostWithoutPort: String {
        host.hasSuffix(":80") ? String(host.dropLast(3)) : host
    }
}
