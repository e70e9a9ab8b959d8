/// What can be wrong with the bytes of a message: a closed set.
///
/// Every one of them ends its connection. After it nobody knows where the next message begins, and
/// guessing is how requests are smuggled.
package enum WireError: Error, Sendable, Hashable, CaseIterable {
    /// The first line of a request is not `method SP target SP version`.
    case requestLine
    /// The method is longer than any that exists.
    case methodTooLong
    /// CONNECT: this is no tunnel, and its framing is another.
    case connectRefused
    /// The target has none of the forms of RFC 9112 3.2, or not the one for its method.
    case target
    case targetTooLong
    /// The version is none.
    case version
    /// The version is one that this wire does not speak.
    case versionNotSupported
    /// The first line of an answer is not `version SP status [SP reason]`.
    case statusLine
    /// A line that is not ended by CRLF, or a CR that ends none.
    case lineEnd
    /// A field line without a name that is a token and directly followed by a colon.
    case fieldName
    /// A control byte in a field value.
    case fieldValue
    /// A field continued on the next line (RFC 9112 5.2).
    case foldedField
    case fieldsTooLarge
    case tooManyFields
    /// HTTP/1.1 without `Host`.
    case hostMissing
    /// More than one `Host`.
    case hostRepeated
    /// A `Host` that is no authority.
    case host
    /// A `Content-Length` that is not one number, or one that cannot be.
    case contentLength
    /// Both framings at once, or one that the version does not have.
    case framingConflict
    /// A transfer coding other than exactly `chunked`.
    case transferCoding
    /// An `Expect` other than `100-continue`.
    case expectation
    /// A malformed or overflowing chunk size, or a chunk line too long.
    case chunkSize
    /// Chunk data that is not ended by CRLF where its size says.
    case chunkEnd
    /// Chunks whose overhead outweighs their data.
    case chunkOverhead
    /// A switch of protocols that nobody asked for.
    case upgrade
    /// More interim answers than the limit.
    case tooManyInterimResponses
    /// The other side stopped sending in the middle of a message.
    case cutShort
}

extension WireError {
    /// What a client is answered.
    package var status: Status {
        switch self {
        case .methodTooLong, .connectRefused, .transferCoding: .notImplemented
        case .targetTooLong: .uriTooLong
        case .versionNotSupported: .versionNotSupported
        case .fieldsTooLarge, .tooManyFields: .headerFieldsTooLarge
        case .expectation: .expectationFailed
        case .requestLine, .target, .version, .statusLine, .lineEnd, .fieldName, .fieldValue,
            .foldedField, .hostMissing, .hostRepeated, .host, .contentLength, .framingConflict,
            .chunkSize, .chunkEnd, .chunkOverhead, .upgrade, .tooManyInterimResponses, .cutShort:
            .badRequest
        }
    }
}
