import HTTP

/// The answers that the server gives itself, before or instead of its service: problems
/// (RFC 9457), never with a word about what is inside.
enum ErrorResponses {
    /// What came was no request.
    static func answer(to error: WireError, _ id: RequestID) -> Response {
        Problem(error.status, instance: id).response()
    }

    /// A head or a body took too long.
    static func tooSlow(_ id: RequestID) -> Response {
        Problem(.requestTimeout, instance: id).response()
    }

    /// The service failed without an answer: a mistake of ours, whatever it was.
    static func failure(_ id: RequestID) -> Response {
        Problem(.internalServerError, instance: id).response()
    }

    /// There is too much to do already.
    static func busy(_ id: RequestID, _ settings: ServerSettings) -> Response {
        Problem(.serviceUnavailable, instance: id)
            .response([.retryAfter: FieldValue(settings.retryAfter)])
    }
}
