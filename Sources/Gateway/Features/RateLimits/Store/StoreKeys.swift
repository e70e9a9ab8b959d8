package import YAMLReader

extension Config {
    /// `store:`, the Redis or Valkey server in which replicas share their rate limits.
    package struct Store: Sendable {
        package let location: SourceLocation
        package var url: Located<StoreURL>?
        package var username: Located<String>?
        package var password: Located<String>?
        /// The beginning of every key.
        package var prefix: Located<String>?
        package var timeout: Located<Duration>?
        package var connectTimeout: Located<Duration>?
        package var tls: Backend.TLS?

        init(location: SourceLocation) {
            self.location = location
        }

        package var isSecure: Bool { url?.value.isSecure ?? false }

        /// Whether the store's certificate is verified with the system's trusted CAs.
        var needsSystemTrust: Bool { isSecure && tls.needsSystemTrust }
    }

    /// Where the store is.
    package enum StoreURL: Sendable, Equatable {
        /// A host without brackets.
        case host(String, port: UInt16, isSecure: Bool, database: Int)
        case unix(path: String)

        package var isSecure: Bool {
            if case .host(_, _, let isSecure, _) = self { isSecure } else { false }
        }
    }
}

extension Config.StoreURL: CustomStringConvertible {
    /// The form that the configuration has; without credentials, which a URL does not contain.
    package var description: String {
        switch self {
        case .unix(let path): return "unix:\(path)"
        case .host(let host, let port, let isSecure, let database):
            let scheme = isSecure ? "rediss" : "redis"
            let name = host.contains(":") ? "[\(host)]" : host
            return "\(scheme)://\(name):\(port)" + (database == 0 ? "" : "/\(database)")
        }
    }
}

enum StoreKeys {
    static let root: [BlockKey<Config>] = [
        .block("store", \.store, "the Redis or Valkey server in which replicas share limits")
    ]
}

extension Config.Store: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "url", \.url, .storeURL, isRequired: true,
            "redis://host:port, rediss://host:port for TLS, each with /DATABASE, or unix:/path"),
        .value("username", \.username, .credential, "user of the store's access control list"),
        .value("password", \.password, .password, "password of that user, or of the default user"),
        .value(
            "prefix", \.prefix, .keyPrefix, default: .text(PlanDefaults.storePrefix),
            "beginning of all keys; services with the same prefix share their limits"),
        .value(
            "timeout", \.timeout, .duration, default: .time(PlanDefaults.storeTimeout),
            "how long a request waits for the store's decision at most; up to 1s"),
        .value(
            "connect_timeout", \.connectTimeout, .duration,
            default: .time(PlanDefaults.storeConnectTimeout),
            "time limit for opening a connection, TLS and AUTH included"),
        .block("tls", \.tls, "TLS settings of a rediss:// store"),
    ]
}

extension ValueReader where Value == Config.StoreURL {
    /// `redis://host[:port][/database]`, `rediss://…` or `unix:/path`.
    static var storeURL: ValueReader {
        let message = "must be a URL such as redis://127.0.0.1:6379, or unix:/path"
        return .scalar(.text(format: .storeURL), expected: message) { scalar throws(Refusal) in
            try Config.StoreURL(parsing: scalar.text)
        }
    }
}

extension ValueReader where Value == String {
    /// A secret of any bytes.
    static var password: ValueReader {
        text(.password) { text throws(Refusal) in
            guard !text.isEmpty else { throw Refusal("must not be empty") }
        }
    }

    /// The name of a user: Redis allows no white space in it.
    fileprivate static var credential: ValueReader {
        text { text throws(Refusal) in
            guard isWord(text) else {
                throw Refusal("must be a name of 1 to 128 printable characters without spaces")
            }
        }
    }

    fileprivate static var keyPrefix: ValueReader {
        text { text throws(Refusal) in
            guard isWord(text) else {
                throw Refusal("must be 1 to 128 printable ASCII characters without spaces")
            }
        }
    }

    /// Short enough for a key, and readable in the output of any tool.
    private static func isWord(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension Config.StoreURL {
    package init(parsing text: String) throws(Refusal) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            // The kernel's limit, with the zero at the end (sun_path).
            guard path.hasPrefix("/"), path.utf8.count < 108, !path.utf8.contains(0) else {
                throw Refusal("must be unix: and an absolute path of at most 107 bytes")
            }
            self = .unix(path: path)
            return
        }
        guard let scheme = ["redis", "rediss"].first(where: { text.hasPrefix("\($0)://") }) else {
            throw Refusal("must begin with redis://, rediss:// or unix:/")
        }
        let rest = text.dropFirst(scheme.count + 3)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else {
            throw Refusal(
                "must not contain a user name or password; use 'username' and 'password'")
        }
        let (host, port) = URLSyntax.split(authority)
        self = .host(
            try URLSyntax.host(host),
            port: try port.map { port throws(Refusal) in
                try URLSyntax.port(port, allowsZero: false)
            } ?? 6379, isSecure: scheme == "rediss",
            database: try Self.database(rest.dropFirst(authority.count)))
    }

    /// The number after the slash; 0 without one.
    private static func database(_ path: Substring) throws(Refusal) -> Int {
        if path.isEmpty || path == "/" { return 0 }
        let digits = path.dropFirst()
        guard path.hasPrefix("/"), digits.utf8.count <= 5,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
        else { throw Refusal("may have only the number of a database after its host, as in /3") }
        return number
    }
}
