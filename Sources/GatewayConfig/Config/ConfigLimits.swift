import YAMLReader

extension Config {
    /// `limits:`, what one process takes in; sizes are bytes.
    package struct Limits: Sendable {
        let place: Place
        package var connections: Placed<Int>?
        package var connectionsPerClient: Placed<Int>?
        package var requestsInFlight: Placed<Int>?
        package var bufferedBytes: Placed<Int>?
        package var headerBytes: Placed<Int>?
        package var headerCount: Placed<Int>?
        package var uriBytes: Placed<Int>?
        package var headerTimeout: Placed<Duration>?
        package var bodyTimeout: Placed<Duration>?
        package var writeTimeout: Placed<Duration>?
        package var idleTimeout: Placed<Duration>?

        init(place: Place) {
            self.place = place
        }
    }
}
