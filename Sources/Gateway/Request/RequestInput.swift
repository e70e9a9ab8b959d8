package import Basics
package import JSONText

/// The checked parameters and body of a request.
package struct RequestInput {
    package var params: Params
    var body: Bytes
    /// The body as JSON, where the endpoint declares it.
    package var bodyValue: JSONSlice?

    package init(params: Params, body: Bytes, bodyValue: JSONSlice? = nil) {
        self.params = params
        self.body = body
        self.bodyValue = bodyValue
    }
}
