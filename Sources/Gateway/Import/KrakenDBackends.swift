import YAMLReader

/// The backends that came together: one for the same hosts with the same settings, however often
/// KrakenD's file repeats them.
struct KrakenDBackends {
    /// Of the top level, for what is not said elsewhere.
    private let root: DocumentNode
    private var known: [Known] = []

    private struct Known {
        let name: String
        let urls: [String]
        let breaker: YAMLTree?
        let tls: YAMLTree?
        let key: String
    }

    init(_ root: DocumentNode) {
        self.root = root
    }

    /// The hosts of the whole file.
    var commonHosts: [String] { root["host"]?.texts ?? [] }

    /// What is said once for all backends that are asked over TLS.
    var commonTLS: YAMLTree? { root["client_tls"].flatMap { KrakenDTLS($0).tree } }

    /// - Parameters:
    ///   - breaker: the block, with the text that tells it from others
    ///   - tls: the block; means nothing without `https://`
    mutating func name(of urls: [String], breaker: YAMLTree?, tls: YAMLTree?) -> String {
        let isSecure = urls.contains { $0.lowercased().hasPrefix("https://") }
        let tls = isSecure ? tls : nil
        let blocks = [breaker, tls].map { $0?.lines.joined() ?? "" }
        let key = (urls + blocks).joined(separator: " ")
        if let same = known.first(where: { $0.key == key }) { return same.name }
        let name = Self.unique(Self.word(urls.first ?? ""), among: known.map(\.name))
        known.append(Known(name: name, urls: urls, breaker: breaker, tls: tls, key: key))
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

    var tree: YAMLTree {
        .block(
            known.map { backend in
                var members: [(String, YAMLTree)] = [
                    backend.urls.count == 1
                        ? ("url", .text(backend.urls[0])) : ("urls", .texts(backend.urls))
                ]
                if let tls = backend.tls { members.append(("tls", tls)) }
                if let breaker = backend.breaker { members.append(("breaker", breaker)) }
                return (backend.name, .block(members + connections))
            })
    }

    /// What KrakenD says once for all connections.
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
