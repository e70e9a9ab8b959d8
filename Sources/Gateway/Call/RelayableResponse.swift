import Basics
import HTTP
import HTTPClient

/// The part of a backend's response that `relay_body` passes on. An error carries it, so it must be
/// `Sendable`, which a `Body` is not.
package struct RelayableResponse: Sendable {
    let status: Status
    let contentType: FieldValue?
    let content: Bytes

    init(_ response: ClientResponse) {
        status = response.status
        contentType = response.fields[.contentType]
        content = response.content
    }
}
