extension Config {
    /// A request method, spelled as on the wire.
    enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
        case head = "HEAD"
        case options = "OPTIONS"
    }

    /// `route:`, a method and a path with parameters.
    struct Route: Sendable, Equatable {
        let method: Method
        /// The path as written, such as `/products/{id}`.
        let path: String
        let segments: [Segment]

        enum Segment: Sendable, Equatable {
            /// Decoded: `%2F` is a slash here.
            case literal(String)
            case parameter(String)
        }

        var parameters: [String] {
            segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
        }
    }

    /// `url:` of a backend: an origin, and a path that is put before every call's.
    struct BackendURL: Sendable, Equatable {
        let scheme: Scheme
        /// A name, an IPv4 address, or an IPv6 address without its brackets.
        let host: String
        let port: UInt16
        /// Percent-encoded, without a slash at its end: empty, or `/v1`.
        let path: String

        enum Scheme: String, Sendable { case http, https }
    }
}
