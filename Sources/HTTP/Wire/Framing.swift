extension BodyFraming {
    /// RFC 9112 6.3 for requests, from top to bottom. Anything ambiguous is rejected: ambiguity
    /// enables smuggling.
    @inline(__always)
    static func ofRequest(
        version: HTTPVersion, _ fields: ControlFields
    ) throws(WireError) -> BodyFraming {
        if fields.codingCount > 0 {
            try check(codingIn: version, fields)
            return .chunked
        }
        return try length(fields) ?? .none
    }

    /// RFC 9112 6.3 for responses, from top to bottom.
    static func ofResponse(
        status: Status, toHead: Bool, version: HTTPVersion, _ fields: ControlFields
    ) throws(WireError) -> BodyFraming {
        if toHead || status.forbidsBody { return .none }
        if fields.codingCount > 0 {
            try check(codingIn: version, fields)
            return .chunked
        }
        return try length(fields) ?? .untilClose
    }

    /// The only coding is `chunked`, alone, once, in HTTP/1.1, and without a length beside it
    /// (RFC 9112 6.1).
    private static func check(
        codingIn version: HTTPVersion, _ fields: ControlFields
    ) throws(WireError) {
        guard version >= .http11, fields.lengthCount == 0 else { throw .framingConflict }
        guard fields.codingCount == 1, fields.isChunked else { throw .transferCoding }
    }

    private static func length(_ fields: ControlFields) throws(WireError) -> BodyFraming? {
        switch fields.lengthCount {
        case 0: nil
        case 1: fields.length == 0 ? BodyFraming.none : .length(fields.length)
        default: throw .contentLength
        }
    }
}
