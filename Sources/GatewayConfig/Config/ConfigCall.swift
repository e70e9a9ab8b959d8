package import Basics
package import YAMLReader

extension Config {
    /// One of `calls:`, one request to one backend inside one client request.
    package struct Call: Sendable {
        package let name: Placed<String>
        package let place: Place
        /// The backend's name.
        package var from: Placed<String>?
        /// `get:`, `post:`, ... with the path and query to ask for.
        package var request: Request?
        package var headers: [HeaderTemplate] = []
        package var body: BodyTemplate?
        package var forward: Forward?
        package var forwarded: Placed<Forwarded>?
        package var required: Placed<Bool>?
        package var timeout: Placed<Duration>?
        package var accept: Placed<[ClosedRange<Int>]>?
        package var relayStatus: Placed<[ClosedRange<Int>]>?
        package var relayBody: Placed<Bool>?
        package var relayHeaders: [Placed<String>] = []
        package var retry: Retry?
        package var hedge: Hedge?
        package var take: Placed<String>?
        /// nil keeps everything; an empty list keeps nothing.
        package var keep: Placed<[Placed<String>]>?
        package var drop: [Placed<String>] = []
        package var rename: [Rename] = []
        package var at: Placed<Spot>?
        package var onCollision: Placed<Collision>?
        package var ifFailed: Placed<IfFailed>?
        /// Calls that it waits for without using their answers.
        var after: [Placed<String>] = []
        package var when: When?

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }
    }
}

extension Config.Call {
    /// The method is placed where its key stands.
    package struct Request: Sendable {
        package let method: Placed<Config.Method>
        package let target: PlacedTemplate
    }

    package struct HeaderTemplate: Sendable {
        package let name: Placed<String>
        package let value: PlacedTemplate
    }

    package struct Retry: Sendable {
        let place: Place
        /// All tries, the first one included.
        package var attempts: Placed<Int>?
        package var on: Placed<[Condition]>?
        package var backoff: Placed<Duration>?
        init(place: Place) { self.place = place }

        package enum Condition: Sendable, Equatable {
            case connect, terminated
            case status(Int)

            /// As it is written.
            var spelled: String {
                switch self {
                case .connect: "connect"
                case .terminated: "terminated"
                case .status(let code): "\(code)"
                }
            }
        }
    }

    package struct Hedge: Sendable {
        let place: Place
        package var after: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// One of `rename:`, a path and the name that its last key gets.
    package struct Rename: Sendable {
        package let path: Placed<String>
        package let name: Placed<String>
    }

    /// `at:`; not written, the answer stands under the call's name.
    package enum Spot: String, Sendable, CaseIterable { case root = "." }

    /// `on_collision:`, what happens to the later of two equal keys at the root.
    package enum Collision: String, Sendable, CaseIterable { case drop, fail }

    package enum IfFailed: Sendable, Equatable {
        case omit
        /// One JSON value, `null` included, with its numbers spelled as they were written.
        case value(Bytes)
    }

    /// `when:`, call only if the parameter was sent (or has this value).
    package struct When: Sendable {
        package let place: Place
        package var param: Placed<String>?
        /// Written `is:`.
        package var value: Placed<String>?
        init(place: Place) { self.place = place }
    }
}

extension ClosedRange<Int> {
    /// `404`, or `200-299`
    package var spelled: String {
        lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)-\(upperBound)"
    }
}
