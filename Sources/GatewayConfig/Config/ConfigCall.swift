import Basics
import YAMLReader

extension Config {
    /// One of `calls:`, one request to one backend inside one client request.
    struct Call: Sendable {
        let name: Placed<String>
        let place: Place
        /// The backend's name.
        var from: Placed<String>?
        /// `get:`, `post:`, ... with the path and query to ask for.
        var request: Request?
        var headers: [HeaderTemplate] = []
        var body: BodyTemplate?
        var forward: Forward?
        var forwarded: Placed<Forwarded>?
        var required: Placed<Bool>?
        var timeout: Placed<Duration>?
        var accept: Placed<[ClosedRange<Int>]>?
        var relayStatus: Placed<[ClosedRange<Int>]>?
        var relayBody: Placed<Bool>?
        var relayHeaders: [Placed<String>] = []
        var retry: Retry?
        var hedge: Hedge?
        var take: Placed<String>?
        /// nil keeps everything; an empty list keeps nothing.
        var keep: Placed<[Placed<String>]>?
        var drop: [Placed<String>] = []
        var rename: [Rename] = []
        var at: Placed<Spot>?
        var onCollision: Placed<Collision>?
        var ifFailed: Placed<IfFailed>?
        /// Calls that it waits for without using their answers.
        var after: [Placed<String>] = []
        var when: When?

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }
    }
}

extension Config.Call {
    /// The method is placed where its key stands.
    struct Request: Sendable {
        let method: Placed<Config.Method>
        let target: PlacedTemplate
    }

    struct HeaderTemplate: Sendable {
        let name: Placed<String>
        let value: PlacedTemplate
    }

    struct Retry: Sendable {
        let place: Place
        /// All tries, the first one included.
        var attempts: Placed<Int>?
        var on: Placed<[Condition]>?
        var backoff: Placed<Duration>?
        init(place: Place) { self.place = place }

        enum Condition: Sendable, Equatable {
            case connect, terminated
            case status(Int)
        }
    }

    struct Hedge: Sendable {
        let place: Place
        var after: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// One of `rename:`, a path and the name that its last key gets.
    struct Rename: Sendable {
        let path: Placed<String>
        let name: Placed<String>
    }

    /// `at:`; not written, the answer stands under the call's name.
    enum Spot: String, Sendable, CaseIterable { case root = "." }

    /// `on_collision:`, what happens to the later of two equal keys at the root.
    enum Collision: String, Sendable, CaseIterable { case drop, fail }

    enum IfFailed: Sendable, Equatable {
        case omit
        /// One JSON value, `null` included, with its numbers spelled as they were written.
        case value(Bytes)
    }

    /// `when:`, call only if the parameter was sent (or has this value).
    struct When: Sendable {
        let place: Place
        var param: Placed<String>?
        /// Written `is:`.
        var value: Placed<String>?
        init(place: Place) { self.place = place }
    }
}

extension ClosedRange<Int> {
    /// `404`, or `200-299`
    var spelled: String {
        lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)-\(upperBound)"
    }
}
