import HTTP
import JSONText

/// What one call contributes to the response.
struct Part {
    /// The backend's value, shaped.
    var value: JSONSlice
    /// The backend's header lines that the call relays.
    let fields: Fields
    /// Keys of the backend's value that the change of case dropped, since others became equal.
    var droppedKeys: [String] = []

    static let nothing = Part(value: .null, fields: Fields())
}
