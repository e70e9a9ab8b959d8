package import YAMLReader

extension Config {
    /// One of `params:`, a value that the client sends in the path, the query or a header.
    package struct Param: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        package var type: Located<Kind>?
        package var min: Located<Number>?
        package var max: Located<Number>?
        package var minLength: Located<Int>?
        package var maxLength: Located<Int>?
        package var pattern: Located<String>?
        /// The texts that a client may send; empty means any.
        package var oneOf: [Located<String>] = []
        /// `default:`, the text to use if the client sends no value.
        package var fallback: Located<String>?
        package var required: Located<Bool>?
        /// `in:`; if not written, the path if the route contains the name, else the query.
        package var sentIn: Located<Location>?

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }

        package enum Kind: String, Sendable, CaseIterable {
            case string, integer, number, boolean, uuid
        }
        package enum Location: String, Sendable, CaseIterable { case path, query, header }
    }

    /// A number with its original spelling.
    package struct Number: Sendable, Equatable {
        package let text: String
        package let value: Double
        /// Exact, if it is a whole number that fits.
        package let integer: Int?
    }
}
