import Basics
import HTTP
import HTTPClient

/// What `relay_body` passes on of a backend's response. It stands in an error, so that it must be
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
