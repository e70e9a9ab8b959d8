package import Basics
package import JSONText

/// What a request brings for the calls, checked.
package struct RequestInput {
    package var params: Params
    var body: Bytes
    /// The body as JSON, where the endpoint says what it must be.
    package var bodyValue: JSONSlice?

    package init(params: Params, body: Bytes, bodyValue: JSONSlice? = nil) {
        self.params = params
        self.body = body
        self.bodyValue = bodyValue
    }
}
