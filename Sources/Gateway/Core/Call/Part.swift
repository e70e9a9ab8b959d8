import HTTP
import JSONText

/// What one call contributes to the response.
struct Part {
    /// The backend's value, shaped.
    let value: JSONSlice
    /// The backend's header lines that the call relays.
    let fields: Fields

    static let nothing = Part(value: .null, fields: Fields())
}
