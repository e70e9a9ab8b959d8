import Basics
import JSONText

/// One value of a client's request that was refused. All of a request are told at once.
struct RequestError: Equatable {
    let location: Location
    /// Of the parameter; for a body the way to the value, `address.city`, empty for the whole.
    let name: String
    let reason: Reason

    /// Written `in`.
    enum Location: String {
        case path, query, header, body
    }

    /// The member `errors` of a problem answer:
    /// `[{"in":"path","name":"id","reason":"must be an integer"}]`.
    static func json(_ errors: [RequestError]) -> Bytes {
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
