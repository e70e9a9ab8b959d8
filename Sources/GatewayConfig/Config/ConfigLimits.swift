import YAMLReader

extension Config {
    /// `limits:`, what one process takes in; sizes are bytes.
    struct Limits: Sendable {
        let place: Place
        var connections: Placed<Int>?
        var connectionsPerClient: Placed<Int>?
        var requestsInFlight: Placed<Int>?
        var bufferedBytes: Placed<Int>?
        var headerBytes: Placed<Int>?
        var headerCount: Placed<Int>?
        var uriBytes: Placed<Int>?
        var headerTimeout: Placed<Duration>?
        var bodyTimeout: Placed<Duration>?
        var writeTimeout: Placed<Duration>?
        var idleTimeout: Placed<Duration>?

        init(place: Place) {
            self.place = place
        }
    }
}
