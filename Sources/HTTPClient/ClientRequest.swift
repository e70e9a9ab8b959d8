package import Basics
package import HTTP

/// A request, ready to be written to any connection of its origin.
package struct ClientRequest {
    /// The method that the head states. It decides how an answer is framed and whether the request
    /// may be sent twice.
    package let method: Method

    /// The whole head as it goes out, `Host` and `Content-Length` included; made by `HeadWriter`.
    package let head: Bytes

    package let body: Bytes

    /// The longest body that an answer may have.
    package let answerBytesMax: Int

    /// For whom the answer is kept in memory, and whose room it takes; nil where nobody counts.
    package let holder: Exchange?

    package init(
        method: Method, head: Bytes, body: Bytes = Bytes(), answerBytesMax: Int,
        holder: Exchange? = nil
    ) {
        self.method = method
        self.head = head
        self.body = body
        self.answerBytesMax = answerBytesMax
        self.holder = holder
    }
}

/// A whole and final answer of a backend; interim ones (1xx) were passed over.
package struct ClientResponse {
    package let status: Status
    package let fields: Fields
    package let body: Bytes

    package init(status: Status, fields: Fields, body: Bytes) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
