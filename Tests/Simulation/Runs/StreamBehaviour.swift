import Reactor
import Rehearsal
import SimReactor

/// Behaviour of endpoints with `proxy`, and of listeners, that the runs must reach.
package enum StreamBehaviour: String, CaseIterable, Sendable {
    /// A host received a whole body, of known length or in chunks.
    case sizedUploads, chunkedUploads
    /// A client received a whole body: with a length, in chunks, or of a host that ends the connection.
    case sizedDownloads, chunkedDownloads, unlimitedDownloads
    /// Trailers and interim responses passed to a client.
    case trailers, interimResponses
    /// A host decided about a body before the client sent it; or the gateway did, after a second.
    case awaitedBodies, silentDecisions
    /// A response began before the end of its request.
    case earlyResponses
    /// A request was repeated.
    case repeatedStreams
    /// Why streams ended early.
    case truncations, departures, idleStreams, longStreams
    /// The gateway responded itself, with this status.
    case slowUploads, largeUploads, failedHosts, overloads, timeouts
    /// A path was refused that some server reads as one of a protected endpoint.
    case refusedPaths
    /// A side that read slowly held the other one back.
    case heldBack
    /// Connections switched to another protocol; one of them to a wrong one.
    case tunnels, refusedUpgrades
    /// Both sides of a tunnel ended it; its idle limit did.
    case endedTunnels, idleTunnels
    /// Handshakes succeeded, with a certificate or without; failed; took too long.
    case secureClients, certificates, failedHandshakes, slowHandshakes
    /// A request was sent for a caller with a certificate; one with another certificate was refused.
    case certifiedCallers, otherCertificates
    /// Requests that were redirected, or sent without encryption to a listener with TLS.
    case redirects, unencrypted

    /// How often each took place.
    static func counts(in record: RunRecord) -> [StreamBehaviour: Int] {
        var counts: [StreamBehaviour: Int] = [:]
        for model in StreamModel.all(in: record) {
            for behaviour in behaviours(of: model) { counts[behaviour, default: 0] += 1 }
        }
        for client in record.clients {
            for behaviour in behaviours(of: client, record) { counts[behaviour, default: 0] += 1 }
        }
        return counts
    }

    private static func behaviours(of model: StreamModel) -> [StreamBehaviour] {
        var found: [StreamBehaviour] = []
        func add(_ behaviour: StreamBehaviour, _ condition: Bool) {
            if condition { found.append(behaviour) }
        }
        let (stream, status) = (model.stream, model.request.response?.status)
        let upload = stream.script.upload
        let isUploaded = model.attempts.contains { $0.isRequestComplete && $0.received > 0 }
        add(.sizedUploads, isUploaded && upload.framing == .length)
        add(.chunkedUploads, isUploaded && upload.framing == .chunked)
        add(.trailers, !stream.trailers.isEmpty)
        add(.interimResponses, stream.interim.contains { $0.status == 103 })
        let wasContinued = stream.interim.contains { $0.status == 100 }
        let isDecided = model.attempts.contains { $0.script.interim.contains { $0.status == 100 } }
        add(.awaitedBodies, wasContinued && isDecided)
        add(.silentDecisions, wasContinued && !isDecided)
        add(.repeatedStreams, model.attempts.count > 1)
        add(.truncations, model.loggedEnd == "backend_truncated")
        add(.departures, model.loggedEnd == "client_disconnected")
        add(.idleStreams, model.loggedEnd == "idle")
        add(.longStreams, model.loggedEnd == "max_duration")
        add(.heldBack, stream.fromGateway.unsentMax > 64 * 1024)
        let isAccepted = model.request.request.identity == DrawnCaller.partner.rawValue
        let caller = model.attempts.first?.head["X-Caller"]
        add(.certifiedCallers, isAccepted && caller == DrawnCaller.partner.rawValue)
        add(
            .otherCertificates,
            model.request.request.identity == ListenerDraw.stranger && status == 401)
        let isRefusedPath = model.record.configs.contains { config in
            model.request.request.endpoint.flatMap { config.endpoints[$0].proxy }
                .map(model.request.request.isRefusedPath) ?? false
        }
        add(.refusedPaths, status == 400 && isRefusedPath)
        guard let origin = model.origin else {
            add(.slowUploads, status == 408)
            add(.largeUploads, status == 413)
            add(.failedHosts, status == 502)
            add(.overloads, status == 503)
            add(.timeouts, status == 504)
            add(.refusedUpgrades, model.attempts.contains { $0.script.switchesWrongly })
            return found
        }
        let isWhole = stream.isComplete && stream.received > 0 && origin.script.upgrade == nil
        add(.sizedDownloads, isWhole && origin.script.body.framing == .length)
        add(.chunkedDownloads, isWhole && origin.script.body.framing == .chunked)
        add(.unlimitedDownloads, isWhole && origin.script.body.framing == .untilClose)
        let isEarly = stream.requestRead.map { read in
            model.request.responded.map { $0 < read } ?? false
        }
        add(.earlyResponses, isEarly ?? (upload.framing != .none))
        add(.tunnels, origin.script.upgrade != nil)
        add(
            .endedTunnels,
            origin.script.upgrade != nil && origin.sawTunnelEnd && model.loggedOutcome == "ok")
        add(.idleTunnels, origin.script.upgrade != nil && model.loggedEnd == "idle")
        return found
    }

    private static func behaviours(
        of client: ClientRecord, _ record: RunRecord
    ) -> [StreamBehaviour] {
        guard let handshake = client.handshake else { return [] }
        let statuses = client.sent.compactMap { $0.response?.status }
        guard let tls = record.configs[0].listeners[handshake.listener].tls else {
            return statuses.contains(308) ? [.redirects] : []
        }
        guard let hello = handshake.hello else {
            return statuses.contains(400) ? [.unencrypted] : []
        }
        guard handshake.secured != nil else {
            return [hello.behavior == .stalls ? .slowHandshakes : .failedHandshakes]
        }
        let hasIdentity = tls.policy.session(for: hello)?.identity != nil
        return [.secureClients] + (hasIdentity ? [.certificates] : [])
    }
}
