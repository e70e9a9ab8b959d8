import YAMLReader

/// Addresses to listen on, URLs of backends, and host names.
extension ValueReader where Value == Config.ListenAddress {
    /// `host:port`, `[v6]:port` or `unix:/path`.
    static var listenAddress: ValueReader {
        let message = "must be host:port, \"[v6]:port\" or unix:/path"
        return .scalar(.text(format: .address), expected: message) { scalar throws(Refusal) in
            let text = scalar.text
            if text.hasPrefix("unix:") {
                let path = String(text.dropFirst(5))
                // The kernel's limit, with the zero at the end (sun_path).
                guard path.hasPrefix("/"), path.utf8.count < 108, !path.utf8.contains(0) else {
                    throw Refusal("must be unix: and an absolute path of at most 107 bytes")
                }
                return .unix(path: path)
            }
            let (host, port) =
                Int(text) == nil ? URLSyntax.split(text[...]) : ("", text[...])
            guard let port else { throw Refusal(.init(fixed: message)) }
            guard !host.isEmpty, host != "*" else {
                throw Refusal(
                    "must have a host: 127.0.0.1:\(port), or 0.0.0.0:\(port) for all interfaces")
            }
            return .tcp(
                host: try URLSyntax.host(host), port: try URLSyntax.port(port, allowsZero: true))
        }
    }
}

extension ValueReader where Value == Config.BackendURL {
    /// `http://host[:port][/path]`
    static var backendURL: ValueReader {
        let message = "must be a URL such as http://127.0.0.1:7001"
        return .scalar(.text(format: .url), expected: message) { scalar throws(Refusal) in
            try Config.BackendURL(parsing: scalar.text)
        }
    }
}

extension ValueReader where Value == String {
    /// A name, or an address without brackets.
    static var host: ValueReader {
        text(.host) { text throws(Refusal) in try HostSyntax.check(text) }
    }

    /// A host, or `*.name` for every host with one label more.
    static var hostPattern: ValueReader {
        text(.host) { text throws(Refusal) in
            guard text.hasPrefix("*.") else { return try HostSyntax.check(text) }
            let name = text.dropFirst(2)
            guard !name.contains(":"), !URLSyntax.isIPv4(name) else {
                throw Refusal("must have a name after '*.'")
            }
            _ = try URLSyntax.host(name)
        }
    }

    /// The name of an entry of `listen`.
    static var listenerName: ValueReader {
        text { text throws(Refusal) in
            guard Config.Param.isName(text) else {
                throw Refusal("must consist of letters, digits, _ and -")
            }
        }
    }
}

extension Config.BackendURL {
    package init(parsing text: String) throws(Refusal) {
        let lowercased = text.prefix(8).lowercased()
        let scheme: Scheme
        if lowercased.hasPrefix("http://") {
            scheme = .http
        } else if lowercased == "https://" {
            scheme = .https
        } else {
            throw Self.refusalOfScheme(text)
        }
        let rest = text.dropFirst(scheme.rawValue.count + 3)
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count)
        guard !authority.contains("@") else {
            throw Refusal(
                "must not contain a user name or password; send credentials with 'headers'")
        }
        guard !path.contains("?") else { throw Refusal("must not have a query (?...)") }
        try URLSyntax.check(pathAndQuery: String(path))
        let (host, port) = URLSyntax.split(authority)
        self.init(
            scheme: scheme, host: try URLSyntax.backendHost(host),
            port: try port.map { port throws(Refusal) in
                try URLSyntax.port(port, allowsZero: false)
            } ?? (scheme == .http ? 80 : 443),
            path: path.trimmingSlashes)
    }
}

extension Config.BackendURL {
    /// A missing, misspelt or unsupported scheme.
    private static func refusalOfScheme(_ text: String) -> Refusal {
        let scheme = text.prefix { $0 != ":" }
        let rest = text.dropFirst(scheme.count)
        let known = ["http", "https"]
        if rest.hasPrefix("://") || known.contains(scheme.lowercased()) {
            guard !known.contains(scheme.lowercased()) else {
                return Refusal("must have // after the scheme, such as http://127.0.0.1:7001")
            }
            guard !unsupported.contains(scheme.lowercased()),
                let near = Suggestion.nearest(to: String(scheme), among: known)
            else {
                return Refusal(
                    "has the scheme '\(scheme)', which is not supported; backends are called with"
                        + " http:// or https://")
            }
            return Refusal(
                "has the unknown scheme '\(scheme)'"
                    + .hint(" - did you mean '\(near)'?"))
        }
        // `host:8080`, `127.0.0.1`, `host/path`.
        guard !text.isEmpty, text.first?.isASCII == true, !text.contains(" "), !text.hasPrefix("/")
        else { return Refusal("must be a URL such as http://127.0.0.1:7001") }
        guard scheme.lowercased() != "unix" else {
            return Refusal(
                "must not be a unix socket; a backend has a host and a port, such as"
                    + " http://127.0.0.1:7001")
        }
        let isUsable = (try? Config.BackendURL(parsing: "http://\(text)")) != nil
        return isUsable
            ? Refusal("has no scheme; write http://\(text)")
            : Refusal("must be a URL such as http://127.0.0.1:7001")
    }

    /// Other protocols; some look like a misspelt `http`.
    private static let unsupported = [
        "grpc", "grpcs", "h2c", "h2", "ws", "wss", "ftp", "ftps", "tcp", "udp", "tls", "unix",
        "amqp", "amqps", "kafka", "nats", "redis", "file", "dns", "consul",
    ]
}

extension Substring {
    /// Without slashes at the end, because a call's path begins with one.
    fileprivate var trimmingSlashes: String {
        var text = self
        while text.hasSuffix("/") { text.removeLast() }
        return String(text)
    }
}
