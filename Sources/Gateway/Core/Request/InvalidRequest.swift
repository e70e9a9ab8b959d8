import Basics
import JSONText

/// Everything that is wrong with a request; its response is a 400.
package struct InvalidRequest: Error, Equatable {
    /// Not empty, in file order.
    package let errors: [Fault]

    package init(errors: [Fault]) {
        self.errors = errors
    }

    /// One value that was refused.
    package struct Fault: Equatable {
        package let location: Location
        /// The parameter's name; for a body the path of the value, `address.city`, empty for the
        /// whole.
        package let name: String
        package let reason: Reason
    }

    /// The member `in` of the response.
    package enum Location: String {
        case path, query, header, body
    }

    /// The value of the member `errors` in a problem body:
    /// `[{"in":"path","name":"id","reason":"must be an integer"}]`.
    var json: Bytes {
        var text: [UInt8] = []
        for error in errors {
            text.append(literal: text.isEmpty ? "[" : ",")
            text.append(literal: #"{"in":"#)
            text.append(jsonString: error.location.rawValue)
            text.append(literal: #","name":"#)
            text.append(jsonString: error.name)
            text.append(literal: #","reason":"#)
            text.append(jsonString: error.reason.text)
            text.append(literal: "}")
        }
        text.append(literal: text.isEmpty ? "[]" : "]")
        return Bytes(text)
    }
}
