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
