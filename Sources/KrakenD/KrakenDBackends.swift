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
    /// The backends that have the keys of tokens.
    private(set) var keyServers: Set<String> = []

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

    mutating func startEndpoint() { namesOfEndpoint = [] }

    /// The hosts of the top level.
    var commonHosts: [DocumentNode] { root["host"]?.elements ?? [] }

    /// The TLS settings for all backends.
    var commonTLS: YAMLTree? {
        if let tls = root["client_tls"] { return KrakenDTLS(tls).tree }
        return root.has("allow_insecure_connections") ? Self.withoutVerification : nil
    }

    private static let withoutVerification = YAMLTree.inline([("verify", .plain("false"))])

    /// The backend for a server that has the keys of tokens.
    mutating func nameOfKeyServer(_ url: String) -> String {
        let name = name(of: [url], breaker: nil, tls: nil)
        keyServers.insert(name)
        return name
    }

    /// - Parameters:
    ///   - breaker: the block of the circuit breaker
    ///   - tls: the block; ignored without `https://`
    mutating func name(of urls: [String], breaker: YAMLTree?, tls: YAMLTree?) -> String {
        let tls = Self.isSecure(urls) ? tls : nil
        let key = (urls + [breaker, tls].map { $0?.identity ?? "" }).joined(separator: " ")
        let name =
            known.first { $0.key == key }?.name
            ?? Self.unique(Self.word(urls.first ?? ""), among: known.map(\.name))
        if !known.contains(where: { $0.key == key }) {
            known.append(Known(name: name, urls: urls, breaker: breaker, tls: tls, key: key))
        }
        namesOfEndpoint.insert(name)
        return name
    }

    private static func isSecure(_ urls: [String]) -> Bool {
        urls.contains { $0.lowercased().hasPrefix("https://") }
    }

    /// `users` for `http://users.internal:8080`, `127-0-0-1-8080` for an address.
    private static func word(_ url: String) -> String {
        let authority = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
        let host = authority.prefix { $0 != ":" && $0 != "." }
        let isName = host.first?.isLetter == true && host != "localhost"
        let word = (isName ? host : authority).map { sign in
            sign.isASCII && (sign.isLetter || sign.isNumber || sign == "_") ? sign : "-"
        }
        return word.isEmpty ? "backend" : String(word)
    }

    /// The name, or `name-2` and so on if it is taken.
    static func unique(_ name: String, among taken: [String], separator: String = "-") -> String {
        guard taken.contains(name) else { return name }
        return (2...taken.count + 2).lazy.map { "\(name)\(separator)\($0)" }
            .first { !taken.contains($0) } ?? name
    }

    /// Each backend with its block, in the order of first use.
    ///
    /// - Parameter withFiles: false leaves out certificate files, which may not exist on this
    ///   machine
    func blocks(withFiles: Bool) -> YAMLMembers {
        let keepalive = KrakenDTable.service.members(of: root, in: "keepalive")
        return known.map { backend in
            let isReplaced = !withFiles && Self.isSecure(backend.urls)
            let isOne = backend.urls.count == 1
            let members: [(String, YAMLTree?)] = [
                isOne ? ("url", .text(backend.urls[0])) : ("urls", .texts(backend.urls)),
                ("tls", isReplaced ? Self.withoutVerification : backend.tls),
                // KrakenD always sends X-Forwarded-For and X-Forwarded-Host.
                ("forwarded", .text("x")), ("breaker", backend.breaker),
                ("keepalive", .inline(unlessEmpty: keepalive)),
            ]
            let connections = KrakenDTable.service.members(of: root, in: "backends")
            return (backend.name, .block(YAMLTree.members(members) + connections))
        }
    }
}
