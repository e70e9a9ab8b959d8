import HTTP

extension BodyFraming {
    /// How a response whose source has this framing is framed towards a client (RFC 9112 6.3). In HTTP/2 a
    /// length that is not stated needs no chunks.
    func ofResponse(to version: HTTPVersion) -> BodyFraming {
        switch self {
        // No piece may follow a head that states no body.
        case .none: .length(0)
        case .length(let length): .length(length)
        case .chunked, .untilClose: version >= .http11 ? .chunked : .untilClose
        }
    }
}
