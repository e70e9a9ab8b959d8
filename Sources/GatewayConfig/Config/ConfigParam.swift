import YAMLReader

extension Config {
    /// One of `params:`, a value that the client sends in the path, the query or a header.
    struct Param: Sendable {
        let name: Placed<String>
        let place: Place
        var type: Placed<Kind>?
        var min: Placed<Number>?
        var max: Placed<Number>?
        var minLength: Placed<Int>?
        var maxLength: Placed<Int>?
        var pattern: Placed<String>?
        /// The texts that a client may send; empty means any.
        var oneOf: [Placed<String>] = []
        /// `default:`, the text that stands for a value that was not sent.
        var fallback: Placed<String>?
        var required: Placed<Bool>?
        /// `in:`; not written, it is the path if the route has the name, else the query.
        var location: Placed<Location>?

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }

        enum Kind: String, Sendable, CaseIterable { case string, integer, number, boolean, uuid }
        enum Location: String, Sendable, CaseIterable { case path, query, header }
    }

    /// A number with the spelling that it was written with.
    struct Number: Sendable, Equatable {
        let text: String
        let value: Double
        /// Exact, if it is a whole number that fits.
        let integer: Int?
    }
}
