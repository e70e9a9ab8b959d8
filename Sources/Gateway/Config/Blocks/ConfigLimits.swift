import YAMLReader

extension Config {
    /// `limits:`, the limits of one process; sizes are in bytes.
    package struct Limits: Sendable {
        let location: SourceLocation
        package var connections: Located<Int>?
        package var connectionsPerClient: Located<Int>?
        package var requestsInFlight: Located<Int>?
        package var requestsPerClient: Located<Int>?
        package var streams: Located<Int>?
        package var streamsPerConnection: Located<Int>?
        package var handshakes: Located<Int>?
        package var bufferedBytes: Located<Int>?
        package var headerBytes: Located<Int>?
        package var headerCount: Located<Int>?
        package var uriBytes: Located<Int>?
        package var headerTimeout: Located<Duration>?
        package var bodyTimeout: Located<Duration>?
        package var writeTimeout: Located<Duration>?
        package var idleTimeout: Located<Duration>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}
