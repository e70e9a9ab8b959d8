import Rehearsal

/// The head that a host must receive for a streamed request, written from the documentation.
struct ProxyHeadModel {
    let request: ScriptedRequest
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    let proxy: DrawnProxy
    /// Of the attempt.
    let host: Int
    /// False beyond `auth_failures`.
    var checksPasswords = true

    private var backend: DrawnBackend { config.streamBackends[proxy.backend] }

    /// `GET /v1/a?q=1 HTTP/1.1`
    var startLine: String {
        let words = String(decoding: request.bytes.prefix { $0 != 0x0D }, as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
        let target = words.count > 1 ? words[1] : ""
        let path = target.prefix { $0 != "?" }
        let rest = path.dropFirst(endpoint.path.utf8.count + 1)
        let mapped =
            proxy.path.map { $0.hasSuffix("*") ? $0.dropLast() + rest : Substring($0) } ?? path
        return "\(words[0]) \(backend.prefix)\(mapped)\(target.dropFirst(path.count)) HTTP/1.1"
    }

    typealias Lines = [String: [String]]

    /// The names of all fields that the model knows, in lower case.
    static let names = [
        "host", "x-request-id", "x-proxy", "x-caller", "x-set", "x-dropped", "x-user",
        "x-tenant", "cookie", "accept-encoding", "origin", "te", "connection", "keep-alive",
        "proxy-authorization", "x-hop", "x-other", "upgrade", "client-cert", "forwarded",
        "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "authorization", "x-key",
        "x-far", "gateway-deadline-ms", "expect", "x_user", "client_cert", "x_forwarded-for",
        "x_set",
        "proxy", "x_key", "x_any", "x-variant",
    ]

    var lines: Lines {
        var lines = passed
        for (name, value) in proxy.headers { lines[name.lowercased()] = [value] }
        lines["host"] = [hostName]
        lines["x-request-id"] = [request.mark]
        lines["x-proxy"] = ["g\(config.generation)e\(endpoint.index)"]
        if endpoint.isProtected {
            lines["x-caller"] = [caller].compactMap { $0 }
        }
        if acceptsTrailers {
            lines["te"] = ["trailers"]
            lines["connection"] = ["TE"]
        }
        if isUpgrade {
            lines["upgrade"] = ["websocket"]
            lines["connection", default: []].append("Upgrade")
        }
        if request.expectsContinue { lines["expect"] = ["100-continue"] }
        addForwarded(to: &lines)
        return lines.filter { !$0.value.isEmpty }
    }

    private var caller: String? {
        guard
            case .accepted(let caller, _) = AuthModel(
                request: request, config: config, endpoint: endpoint,
                checksPasswords: checksPasswords
            ).outcome
        else { return nil }
        return caller.rawValue
    }

    private var hostName: String {
        switch proxy.host {
        case nil: "127.0.0.1:\(backend.ports[host])"
        case "client": request.host
        case let name?: name
        }
    }

    private var acceptsTrailers: Bool { request.header("TE") != nil }

    private var isUpgrade: Bool {
        proxy.upgrades
            && request.headers.contains { $0.name == "Upgrade" && $0.value == "websocket" }
            && request.headers.contains { $0.name == "Connection" && $0.value.hasSuffix("Upgrade") }
    }

    // MARK: Fields of the client

    private var passed: Lines {
        var lines: Lines = [:]
        let hop =
            Self.hopNames
            + request.headers.filter { $0.name == "Connection" }
            .flatMap { $0.value.lowercased().split(separator: ", ").map(String.init) }
        for (name, value) in request.headers {
            let name = name.lowercased()
            guard !hop.contains(name), !isRemoved(name) else { continue }
            lines[name, default: []].append(value)
        }
        return lines
    }

    private static let hopNames = [
        "te", "connection", "keep-alive", "proxy", "proxy-authorization", "upgrade", "client-cert",
        "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded", "x-request-id",
    ]

    private func isRemoved(_ name: String) -> Bool {
        // For many servers it is another name.
        if name.contains("_") { return true }
        if proxy.dropHeaders.contains(where: { $0.lowercased() == name }) { return true }
        if proxy.headers.contains(where: { $0.name.lowercased() == name }) { return true }
        if !endpoint.forwardHeaders.isEmpty,
            !endpoint.forwardHeaders.contains(where: { $0.lowercased() == name }),
            !name.hasPrefix("content-")
        {
            return true
        }
        guard let auth = endpoint.auth, !proxy.passesCredential else { return false }
        return auth.kinds.contains { kind in
            let header = DrawnAuthenticator(kind: kind, callers: []).credentialHeader
            return header?.lowercased() == name
        }
    }

    // MARK: The client's address

    private var isTrusted: Bool { config.entry.clients != nil }

    private var peer: String? {
        config.listensOnUnixSocket && request.listener == nil ? nil : "127.0.0.1"
    }

    private func addForwarded(to lines: inout Lines) {
        let kind = proxy.forwarded ?? .x
        let named = isTrusted ? request.headers.filter { $0.name == "X-Forwarded-For" } : []
        if kind == .x || kind == .both {
            let list = named.map(\.value) + [peer].compactMap { $0 }
            lines["x-forwarded-for"] = list.isEmpty ? [] : [list.joined(separator: ", ")]
            lines["x-forwarded-proto"] = [scheme]
            lines["x-forwarded-host"] = [request.host]
        } else {
            lines["x-forwarded-for"] = isRemoved("x-forwarded-for") ? [] : named.map(\.value)
        }
        // `Forwarded` does not pass: the trusted proxies maintain the other family.
        if isTrusted, !isRemoved("client-cert") {
            lines["client-cert"] =
                request.headers.filter { $0.name == "Client-Cert" }.map(\.value)
        }
        guard kind == .rfc7239 || kind == .both else { return }
        lines["forwarded"] = [
            (named.map { element(for: $0.value, host: nil) }
                + [element(for: peer, host: request.host)]).joined(separator: ", ")
        ]
    }

    private var scheme: String { request.isSecure ? "https" : "http" }

    private func element(for address: String?, host: String?) -> String {
        let name = address.map { $0.contains(":") ? "\"[\($0)]\"" : $0 } ?? "unknown"
        guard let host else { return "for=\(name)" }
        let isToken = !host.contains { ":[]".contains($0) }
        return "for=\(name);host=\(isToken ? host : "\"\(host)\"");proto=\(scheme)"
    }
}
