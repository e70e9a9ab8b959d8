import Gateway
import YAMLReader

/// The backends of the generated configuration: backends with the same hosts and settings in the
/// KrakenD file become one.
struct KrakenDBackends {
    /// The top level, for settings that a backend does not have.
    private let root: DocumentNode
    private var known: [Known] = []

    /// The backends of the endpoint that is being converted.
    private(set) var namesOfEndpoint: Set<String> = []

    private struct Known {
        let name: String
        let urls: [String]
        let breaker: YAMLTree?
        let tls: YAMLTree?
        let key: String

        var isSecure: Bool { urls.contains { $0.lowercased().hasPrefix("https://") } }
    }

    init(_ root: DocumentNode) {
        self.root = root
    }

    /// The backends that have the keys of tokens.
    private(set) var keyServers: Set<String> = []

    /// The backend for a server that has the keys of tokens.
    mutating func nameOfKeyServer(_ url: String) -> String {
        let name = name(of: [url], breaker: nil, tls: nil)
        keyServers.insert(name)
        return name
    }

    mutating func startEndpoint() { namesOfEndpoint = [] }

    /// The hosts of the top level.
    var commonHosts: [DocumentNode] { root["host"]?.elements ?? [] }

    /// The TLS settings for all backends.
    var commonTLS: YAMLTree? {
        if let tls = root["client_tls"] { return KrakenDTLS(tls).tree }
        guard root["allow_insecure_connections"]?.flag == true else { return nil }
        return .inline([("verify", .plain("false"))])
    }

    /// - Parameters:
    ///   - breaker: the block of the circuit breaker
    ///   - tls: the block; ignored without `https://`
    mutating func name(of urls: [String], breaker: YAMLTree?, tls: YAMLTree?) -> String {
        let isSecure = urls.contains { $0.lowercased().hasPrefix("https://") }
        let tls = isSecure ? tls : nil
        let blocks = [breaker, tls].map { $0?.lines.map(\.text).joined() ?? "" }
        let key = (urls + blocks).joined(separator: " ")
        let name =
            known.first { $0.key == key }?.name
            ?? Self.unique(Self.word(urls.first ?? ""), among: known.map(\.name))
        if !known.contains(where: { $0.name == name }) {
            known.append(Known(name: name, urls: urls, breaker: breaker, tls: tls, key: key))
        }
        namesOfEndpoint.insert(name)
        return name
    }

    /// `users` for `http://users.internal:8080`, `127-0-0-1-8080` for an address.
    static func word(_ url: String) -> String {
        let authority = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
        let host = authority.prefix { $0 != ":" && $0 != "." }
        let isName = host.first?.isLetter == true && host != "localhost"
        let word = (isName ? host : authority).map { sign in
            sign.isASCII && (sign.isLetter || sign.isNumber || sign == "_") ? sign : "-"
        }
        return word.isEmpty ? "backend" : String(word)
    }

    static func unique(_ name: String, among taken: [String]) -> String {
        guard taken.contains(name) else { return name }
        return (2...taken.count + 2).lazy.map { "\(name)-\($0)" }
            .first { !taken.contains($0) } ?? name
    }

    /// Each backend with its block, in the order of first use.
    ///
    /// - Parameter withFiles: false leaves out certificate files, which may not exist on this
    ///   machine
    func blocks(withFiles: Bool) -> [(name: String, tree: YAMLTree)] {
        known.map { backend in
            var members: [(String, YAMLTree)] = [
                backend.urls.count == 1
                    ? ("url", .text(backend.urls[0])) : ("urls", .texts(backend.urls))
            ]
            if !withFiles, backend.isSecure {
                members.append(("tls", .inline([("verify", .plain("false"))])))
            } else if let tls = backend.tls {
                members.append(("tls", tls))
            }
            // KrakenD always sends X-Forwarded-For and X-Forwarded-Host.
            members.append(("forwarded", .text("x")))
            if let breaker = backend.breaker { members.append(("breaker", breaker)) }
            return (backend.name, .block(members + connections))
        }
    }

    /// The settings that KrakenD has once for all connections.
    private var connections: [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        var keepalive: [(String, YAMLTree)] = []
        if let idle = root["max_idle_connections_per_host"]?.integer, idle >= 0 {
            keepalive.append(("max_idle", .plain("\(idle)")))
        }
        if let time = root["idle_connection_timeout"]?.goDuration {
            keepalive.append(("idle_timeout", .text(time.spelled)))
        }
        if !keepalive.isEmpty { members.append(("keepalive", .inline(keepalive))) }
        if let time = root["dns_cache_ttl"]?.goDuration {
            members.append(("dns_ttl", .text(time.spelled)))
        }
        return members
    }
}
