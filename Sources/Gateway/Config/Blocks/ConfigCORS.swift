package import YAMLReader

extension Config {
    /// `cors:`, which web pages may read responses (the CORS protocol of the Fetch standard).
    package struct CORS: Sendable {
        package let location: SourceLocation
        package var origins: [Located<Origin>] = []
        /// Request headers that pages may send; `*` for all.
        package var headers: [Located<String>] = []
        /// Response headers that pages may read, besides those of the gateway.
        package var expose: [Located<String>] = []
        package var credentials: Located<Bool>?
        package var maxAge: Located<Duration>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// One of `origins:`.
        package enum Origin: Sendable, Hashable {
            /// `*`
            case any
            /// A serialised origin, as browsers send it; `null` is one.
            case exact(String)
            /// `https://*.example.com`: one label between the two texts.
            case subdomain(prefix: String, suffix: String)

            /// As it is written.
            package var text: String {
                switch self {
                case .any: "*"
                case .exact(let text): text
                case .subdomain(let prefix, let suffix): "\(prefix)*\(suffix)"
                }
            }
        }

        /// The value of `cors` on an endpoint.
        package enum Setting: Sendable {
            /// Not those of `defaults` either.
            case none
            case rules(CORS)
        }
    }
}
