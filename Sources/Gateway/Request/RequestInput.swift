import Basics
import JSONText

/// What a request brings for the calls, checked.
struct RequestInput {
    var params: Params
    var body: Bytes
    /// The body as JSON, where the endpoint says what it must be.
    var bodyValue: JSONSlice?
}
