extension Config {
    /// A request method, spelled as on the wire.
    package enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
        case head = "HEAD"
        case options = "OPTIONS"
        /// In routes only: every method without a route of its own, except CONNECT and TRACE.
        case any = "ANY"
    }

    /// `route:`, a method and a path with parameters.
    package struct Route: Sendable, Equatable {
        package let method: Method
        /// The path as written, such as `/products/{id}`.
        package let path: String
        package let segments: [Segment]
        /// What follows the parameter that is the last segment: `.json` of `/reports/{id}.json`.
        package var suffix: String?

        package enum Segment: Sendable, Equatable {
            /// Decoded: `%2F` is a slash here.
            case literal(String)
            case parameter(String)
            /// `*`, the last segment: one or more segments.
            case rest
        }

        /// Nil for a segment that no suffix follows.
        package func suffix(ofSegment index: Int) -> String? {
            index == segments.count - 1 ? suffix : nil
        }

        package var parameters: [String] {
            segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
        }
    }

    /// `url:` of a backend: an origin, and a path that is prepended to the path of every call.
    package struct BackendURL: Sendable, Equatable {
        package let scheme: Scheme
        /// A name, an IPv4 address, or an IPv6 address without its brackets.
        package let host: String
        package let port: UInt16
        /// Percent-encoded, without a slash at its end: empty, or `/v1`.
        package let path: String

        package enum Scheme: String, Sendable { case http, https }
    }
}

extension Config.BackendURL {
    /// Whether its host is this machine.
    package var isLoopback: Bool { host.isLoopbackHost }
}
