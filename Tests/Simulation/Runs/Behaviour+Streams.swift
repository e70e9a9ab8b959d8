import Reactor
import Rehearsal
import SimReactor

/// Behaviour with streamed requests, and at other listeners.
extension Behaviour {
    private static func streams(
        _ name: String, _ isMeant: @escaping @Sendable (StreamModel) -> Bool
    ) -> Behaviour {
        Behaviour(name: name) { $0.streams.count(where: isMeant) }
    }

    /// Passed to a client, as a whole.
    private static func downloads(_ name: String, _ framing: BodyScript.Framing) -> Behaviour {
        streams(name) { model in
            model.stream.isComplete && model.stream.received > 0
                && model.origin?.script.upgrade == nil
                && model.origin?.script.body.framing == framing
        }
    }

    /// The gateway responded itself.
    private static func own(_ name: String, _ status: Int) -> Behaviour {
        streams(name) { $0.request.response?.status == status && $0.origin == nil }
    }

    /// A field of the response with a path of the host, which the gateway replaced.
    private static func rewritten(_ name: String, _ field: String) -> Behaviour {
        streams(name) { model in
            guard let response = model.request.response, let origin = model.origin else {
                return false
            }
            let sent = origin.script.fields.filter { $0.name == field }.map(\.value)
            return !sent.isEmpty && response.all(field) != sent
        }
    }

    static let ofStreams: [Behaviour] = [
        streams("streamsByCondition") { $0.endpoint?.route.when != nil },
        streams("streamsByListener") { $0.endpoint?.route.listener != nil },
        rewritten("rewrittenLocations", "Location"), rewritten("rewrittenCookies", "Set-Cookie"),
        streams("keptLocations") { model in
            model.proxy?.rewrite.contains("location") == true && model.proxy?.path != nil
                && model.request.response?["Location"].map { sent in
                    model.origin?.script.fields.contains { $0 == ("Location", sent) } == true
                } == true
        },
        streams("sizedUploads") { $0.isUploaded(.length) },
        streams("chunkedUploads") { $0.isUploaded(.chunked) },
        downloads("sizedDownloads", .length), downloads("chunkedDownloads", .chunked),
        downloads("unlimitedDownloads", .untilClose),
        streams("trailers") { !$0.stream.trailers.isEmpty },
        streams("interimResponses") { $0.stream.interim.contains { $0.status == 103 } },
        // A host decided about a body before the client sent it; or the gateway did, after a second.
        streams("awaitedBodies") { $0.wasContinued && $0.isDecided },
        streams("silentDecisions") { $0.wasContinued && !$0.isDecided },
        streams("earlyResponses") { $0.origin != nil && $0.isEarly },
        streams("repeatedStreams") { $0.attempts.count > 1 },
        streams("truncations") { $0.loggedEnd == "backend_truncated" },
        streams("departures") { $0.loggedEnd == "client_disconnected" },
        streams("idleStreams") { $0.loggedEnd == "idle" },
        streams("longStreams") { $0.loggedEnd == "max_duration" },
        own("slowUploads", 408), own("largeUploads", 413), own("failedHosts", 502),
        own("overloads", 503), own("timeouts", 504),
        // Some server reads the path as one of a protected endpoint.
        streams("refusedPaths") { $0.isRefusedPath },
        // A side that read slowly held the other one back.
        streams("heldBack") { $0.stream.fromGateway.unsentMax > 64 * 1024 },
        streams("tunnels") { $0.origin?.script.upgrade != nil },
        streams("refusedUpgrades") { model in
            model.origin == nil && model.attempts.contains { $0.script.switchesWrongly }
        },
        // Both sides ended it.
        streams("endedTunnels") {
            $0.origin?.script.upgrade != nil && $0.origin?.sawTunnelEnd == true
                && $0.loggedOutcome == "ok"
        },
        streams("idleTunnels") { $0.origin?.script.upgrade != nil && $0.loggedEnd == "idle" },
        streams("certifiedCallers") {
            $0.request.request.identity == DrawnCaller.partner.rawValue
                && $0.attempts.first?.head["X-Caller"] == DrawnCaller.partner.rawValue
        },
        streams("otherCertificates") {
            $0.request.request.identity == ListenerDraw.stranger
                && $0.request.response?.status == 401
        },
    ]

    private static func listeners(
        _ name: String,
        _ isMeant: @escaping @Sendable (ClientRecord, HandshakeRecord, DrawnListenTLS?) -> Bool
    ) -> Behaviour {
        Behaviour(name: name) { run in
            run.record.clients.count { client in
                client.handshake.map {
                    isMeant(client, $0, run.record.configs[0].listeners[$0.listener].tls)
                } ?? false
            }
        }
    }

    static let ofListeners: [Behaviour] = [
        listeners("secureClients") { $2 != nil && $1.hello != nil && $1.secured != nil },
        listeners("certificates") { _, handshake, tls in
            handshake.secured != nil
                && handshake.hello.flatMap { tls?.policy.session(for: $0)?.identity } != nil
        },
        listeners("failedHandshakes") {
            $2 != nil && $1.hello.map { $0.behavior != .stalls } ?? false && $1.secured == nil
        },
        listeners("slowHandshakes") {
            $2 != nil && $1.hello?.behavior == .stalls && $1.secured == nil
        },
        listeners("redirects") { client, _, tls in tls == nil && client.got(308) },
        // HTTP at a listener with TLS.
        listeners("unencrypted") { client, handshake, tls in
            tls != nil && handshake.hello == nil && client.got(400)
        },
    ]
}

extension ClientRecord {
    fileprivate func got(_ status: Int) -> Bool { sent.contains { $0.response?.status == status } }
}

extension StreamModel {
    fileprivate func isUploaded(_ framing: BodyScript.Framing) -> Bool {
        stream.script.upload.framing == framing
            && attempts.contains { $0.isRequestComplete && $0.received > 0 }
    }

    fileprivate var wasContinued: Bool { stream.interim.contains { $0.status == 100 } }

    fileprivate var isDecided: Bool {
        attempts.contains { $0.script.interim.contains { $0.status == 100 } }
    }

    /// The response began before the end of the request.
    fileprivate var isEarly: Bool {
        guard let read = stream.requestRead, let responded = request.responded else {
            return stream.requestRead == nil && stream.script.upload.framing != .none
        }
        return responded < read
    }

    fileprivate var isRefusedPath: Bool {
        request.response?.status == 400
            && record.configs.contains { config in
                config.endpoint(of: request.request)?.proxy
                    .map(request.request.isRefusedPath) ?? false
            }
    }
}
