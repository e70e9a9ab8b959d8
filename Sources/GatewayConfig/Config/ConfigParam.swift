package import YAMLReader

extension Config {
    /// One of `params:`, a value that the client sends in the path, the query or a header.
    package struct Param: Sendable {
        package let name: Placed<String>
        package let place: Place
        package var type: Placed<Kind>?
        package var min: Placed<Number>?
        package var max: Placed<Number>?
        package var minLength: Placed<Int>?
        package var maxLength: Placed<Int>?
        package var pattern: Placed<String>?
        /// The texts that a client may send; empty means any.
        package var oneOf: [Placed<String>] = []
        /// `default:`, the text that stands for a value that was not sent.
        package var fallback: Placed<String>?
        package var required: Placed<Bool>?
        /// `in:`; not written, it is the path if the route has the name, else the query.
        package var location: Placed<Location>?

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }

        package enum Kind: String, Sendable, CaseIterable {
            case string, integer, number, boolean, uuid
        }
        package enum Location: String, Sendable, CaseIterable { case path, query, header }
    }

    /// A number with the spelling that it was written with.
    package struct Number: Sendable, Equatable {
        package let text: String
        package let value: Double
        /// Exact, if it is a whole number that fits.
        package let integer: Int?
    }
}
