/// The kinds of failure that CONFIG names, as the model knows them: from the text, not from the code.
enum FailureKind: String, CaseIterable {
    case dnsError = "dns_error"
    case connectionRefused = "connection_refused"
    case connectionTimeout = "connection_timeout"
    case connectionTerminated = "connection_terminated"
    case connectionLimitReached = "connection_limit_reached"
    case responseTimeout = "http_response_timeout"
    case responseIncomplete = "http_response_incomplete"
    case responseBodySize = "http_response_body_size"
    case protocolError = "http_protocol_error"
    case unexpectedStatus = "unexpected_status"
    case invalidJSON = "invalid_json"
    case invalidShape = "invalid_shape"
    case collision
    case breakerOpen = "breaker_open"
    case queueFull = "queue_full"
    case destinationUnavailable = "destination_unavailable"
    case skipped
    case cancelled
}

/// One failure as an answer tells it.
struct ToldFailure: Equatable {
    var call: String
    var kind: FailureKind
    var status: Int?
    var limit: Int?
    var because: String?
    var key: String?
}

extension ToldFailure {
    /// One element of `failures`; nil if it is not one.
    init?(_ tree: Tree) {
        guard let call = tree["call"]?.string, let kind = tree["kind"]?.string,
            let kind = FailureKind(rawValue: kind)
        else { return nil }
        self.init(
            call: call, kind: kind, status: tree["status"]?.integer,
            limit: tree["limit_ms"]?.integer, because: tree["because"]?.string,
            key: tree["key"]?.string)
    }

    /// `stock;kind=unexpected_status;status=500`
    init?(field: String) {
        let parts = field.split(separator: ";").map(String.init)
        guard parts.count >= 2, parts[1].hasPrefix("kind="),
            let kind = FailureKind(rawValue: String(parts[1].dropFirst(5)))
        else { return nil }
        self.init(call: parts[0], kind: kind)
        if parts.count > 2, parts[2].hasPrefix("status=") { status = Int(parts[2].dropFirst(7)) }
    }
}
