/// The errors in the bytes of a message: a closed set.
///
/// Each of them ends its connection: the beginning of the next message is unknown after it, and
/// guessing enables request smuggling.
package enum WireError: Error, Sendable, Hashable, CaseIterable {
    /// The first line of a request is not `method SP target SP version`.
    case requestLine
    /// The method is longer than any registered one.
    case methodTooLong
    /// CONNECT: tunnels are not supported, and their framing differs.
    case connectRefused
    /// An extended CONNECT for a protocol that is not served (RFC 8441 4).
    case connectProtocol
    /// The target has none of the forms of RFC 9112 3.2, or not the one for its method.
    case target
    case targetTooLong
    /// The version is malformed.
    case version
    /// The version is not supported.
    case versionNotSupported
    /// The first line of a response is not `version SP status [SP reason]`.
    case statusLine
    /// A line without CRLF, or a CR that does not end a line.
    case lineEnd
    /// A field line that does not begin with a token and a colon directly behind it.
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
    /// A `Host` that is not an authority.
    case host
    /// A `Content-Length` that is not exactly one number, or out of range.
    case contentLength
    /// Both framings at once, or one that the version does not define.
    case framingConflict
    /// A transfer coding other than exactly `chunked`.
    case transferCoding
    /// An `Expect` other than `100-continue`.
    case expectation
    /// A malformed or overflowing chunk size, or a chunk line too long.
    case chunkSize
    /// Chunk data whose length is not as stated.
    case chunkEnd
    /// Chunks whose overhead outweighs their data.
    case chunkOverhead
    /// A switch of protocols that was not requested.
    case upgrade
    /// More interim responses than the limit.
    case tooManyInterimResponses
    /// The peer stopped sending in the middle of a message.
    case cutShort
}

extension WireError {
    /// The status of the response to a client.
    package var status: Status {
        switch self {
        case .methodTooLong, .connectRefused, .connectProtocol, .transferCoding: .notImplemented
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

extension WireError {
    /// For the access log.
    package var name: StaticString {
        switch self {
        case .requestLine: "request_line"
        case .methodTooLong: "method_too_long"
        case .connectRefused: "connect_refused"
        case .connectProtocol: "connect_protocol"
        case .target: "target"
        case .targetTooLong: "target_too_long"
        case .version: "version"
        case .versionNotSupported: "version_not_supported"
        case .statusLine: "status_line"
        case .lineEnd: "line_end"
        case .fieldName: "field_name"
        case .fieldValue: "field_value"
        case .foldedField: "folded_field"
        case .fieldsTooLarge: "fields_too_large"
        case .tooManyFields: "too_many_fields"
        case .hostMissing: "host_missing"
        case .hostRepeated: "host_repeated"
        case .host: "host"
        case .contentLength: "content_length"
        case .framingConflict: "framing_conflict"
        case .transferCoding: "transfer_coding"
        case .expectation: "expectation"
        case .chunkSize: "chunk_size"
        case .chunkEnd: "chunk_end"
        case .chunkOverhead: "chunk_overhead"
        case .upgrade: "upgrade"
        case .tooManyInterimResponses: "too_many_interim_responses"
        case .cutShort: "cut_short"
        }
    }
}
