package import Basics
package import JSONText
package import YAMLReader

extension Config {
    /// One of `calls:`, a request to a backend as part of a client request.
    package struct Call: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        /// The backend's name.
        package var from: Located<String>?
        /// `get:`, `post:`, ... with the path and query of the request.
        package var request: Request?
        package var headers: [HeaderTemplate] = []
        package var body: BodyTemplate?
        package var form: BodyTemplate?
        /// `body:` or `form:`, of which at most one is written.
        package var content: BodyTemplate? { body ?? form }
        /// Client headers and query parameters to forward.
        package var forward: Forward?
        /// Which headers send the client's address.
        package var forwarded: Located<Forwarded>?
        package var required: Located<Bool>?
        package var timeout: Located<Duration>?
        package var accept: Located<[ClosedRange<Int>]>?
        package var relayStatus: Located<[ClosedRange<Int>]>?
        package var relayBody: Located<Bool>?
        package var relayHeaders: [Located<String>] = []
        package var retry: Retry?
        package var hedge: Hedge?
        /// Path of the part of the response that is used.
        package var take: Located<String>?
        /// nil keeps everything; an empty list keeps nothing.
        package var keep: Located<[Located<String>]>?
        package var drop: [Located<String>] = []
        package var rename: [Rename] = []
        package var at: Located<Position>?
        package var onCollision: Located<Collision>?
        package var ifFailed: Located<IfFailed>?
        /// Calls that it waits for without using their responses.
        package var after: [Located<String>] = []
        package var when: Condition?
        package var each: Each?

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }
    }
}

extension Config.Call {
    /// The method has the location of its key.
    package struct Request: Sendable {
        package let method: Located<Config.Method>
        package let target: LocatedTemplate
    }

    package struct HeaderTemplate: Sendable {
        package let name: Located<String>
        package let value: LocatedTemplate
    }

    /// One of `rename:`, a path and the new name of its last key.
    package struct Rename: Sendable {
        package let path: Located<String>
        package let name: Located<String>

        /// Whether it is the entry for all keys, at all levels, and no path.
        package var isForAllKeys: Bool { path.value == "*" }
        /// The only value of the entry for all keys.
        static let camelCase = "camel"
    }

    /// The entries of `rename` with a path.
    package var renamedMembers: [Rename] { rename.filter { !$0.isForAllKeys } }
    package var usesCamelCase: Bool { rename.contains(where: \.isForAllKeys) }

    /// `at:`; if not written, the response is stored under the call's name.
    package enum Position: Sendable, Equatable {
        /// Its members are members of the root.
        case root
        /// `none`: the response does not contain it.
        case absent
        /// `user.address`: under these keys, of which the last one is its own.
        case member([String])
        /// `news[]`: its elements are appended to the array under these keys.
        case array([String])
        /// `orders[].product`: under these keys in each element of the list at the path.
        case elements(JSONPath, [String])
    }

    /// `on_collision:`, what happens to the later of two equal keys.
    package enum Collision: String, Sendable, CaseIterable { case drop, fail }

    package enum IfFailed: Sendable, Equatable {
        case omit
        /// One JSON value, `null` included, with its numbers spelled as they were written.
        case value(Bytes)
    }
}

extension ClosedRange<Int> {
    /// `404`, or `200-299`
    package var spelled: String {
        lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)-\(upperBound)"
    }
}
