package import YAMLReader

extension Config {
    /// `traces:`, the collector that receives the spans of requests.
    package struct Traces: Sendable {
        package let location: SourceLocation
        /// The complete URL of the collector's OTLP/HTTP receiver for traces.
        package var otlp: Located<BackendURL>?
        /// The share of sampled requests, in millionths.
        package var sample: Located<Int>?
        package var slow: Located<Duration>?
        package var service: Located<String>?
        /// Sent with every export.
        package var headers: [Header] = []
        package var tls: Backend.TLS?

        init(location: SourceLocation) {
            self.location = location
        }

        package var secureHost: Located<BackendURL>? {
            otlp.flatMap { $0.value.scheme == .https ? $0 : nil }
        }

        /// Whether the collector's certificate is verified with the system's trusted CAs.
        var needsSystemTrust: Bool { secureHost != nil && tls.needsSystemTrust }
    }
}
