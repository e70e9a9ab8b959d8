import Basics
import HTTP
import HTTPClient

/// What a failed call relays of its backend's response: the header lines of `relay_headers`, and with
/// `relay_body` the body. An error carries it, so it must be `Sendable`, which a `Body` is not.
package struct RelayableResponse: Sendable {
    let status: Status
    /// The lines that `relay_headers` lists.
    let fields: Fields
    /// What describes the body: its type, its coding, and its language.
    let contentFields: Fields
    /// Nil if the body is not relayed.
    let content: Bytes?

    init(_ response: ClientResponse, relaying fields: Fields, withBody: Bool) {
        status = response.status
        self.fields = fields
        var contentFields = Fields()
        if withBody {
            contentFields.relay(
                [.contentType, .contentEncoding, .contentLanguage], of: response.fields)
        }
        self.contentFields = contentFields
        content = withBody ? response.content : nil
    }
}
