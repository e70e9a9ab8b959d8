/// The failure kinds that the reference documents. The model has its own list, so that it does not depend
/// on the gateway's code.
package enum FailureKind: String, CaseIterable {
    case dnsError = "dns_error"
    case connectionRefused = "connection_refused"
    case connectionTimeout = "connection_timeout"
    case connectionTerminated = "connection_terminated"
    case connectionLimitReached = "connection_limit_reached"
    case responseTimeout = "http_response_timeout"
    case responseIncomplete = "http_response_incomplete"
    case responseHeaderSize = "http_response_header_section_size"
    case responseHeaderCount = "http_response_header_count"
    case responseBodySize = "http_response_body_size"
    case responseContentCoding = "http_response_content_coding"
    case protocolError = "http_protocol_error"
    case certificateError = "tls_certificate_error"
    case unexpectedStatus = "unexpected_status"
    case invalidJSON = "invalid_json"
    case invalidShape = "invalid_shape"
    case collision
    case tooManyElements = "too_many_elements"
    case truncated
    case breakerOpen = "breaker_open"
    case queueFull = "queue_full"
    case destinationUnavailable = "destination_unavailable"
    case skipped
    case cancelled
}

/// A failure that a response lists.
package struct ListedFailure: Equatable {
    package var call: String
    package var kind: FailureKind
    package var status: Int?
    package var limit: Int?
    package var because: String?
    package var key: String?
    /// Of a list, how many elements failed.
    package var count: Int?

    package init(
        call: String, kind: FailureKind, status: Int? = nil, limit: Int? = nil,
        because: String? = nil, key: String? = nil
    ) {
        self.call = call
        self.kind = kind
        self.status = status
        self.limit = limit
        self.because = because
        self.key = key
    }
}

extension ListedFailure {
    /// One element of `failures`; nil if it is not one. A request that was passed through has no
    /// calls, and a member of `put` belongs to none: it is named `*`, as in a header.
    package init?(_ tree: Tree) {
        guard let kind = tree["kind"]?.string, let kind = FailureKind(rawValue: kind) else {
            return nil
        }
        self.init(
            call: tree["call"]?.string ?? (kind == .collision ? "*" : "proxy"), kind: kind,
            status: tree["status"]?.integer,
            limit: tree["limit_ms"]?.integer, because: tree["because"]?.string,
            key: tree["key"]?.string)
        count = tree["count"]?.integer
    }

    /// `stock;kind=unexpected_status;status=500`
    package init?(field: String) {
        let parts = field.split(separator: ";").map(String.init)
        guard parts.count >= 2, parts[1].hasPrefix("kind="),
            let kind = FailureKind(rawValue: String(parts[1].dropFirst(5)))
        else { return nil }
        self.init(call: parts[0], kind: kind)
        for part in parts.dropFirst(2) {
            if part.hasPrefix("status=") { status = Int(part.dropFirst(7)) }
            if part.hasPrefix("count=") { count = Int(part.dropFirst(6)) }
        }
    }
}

extension ListedFailure {
    /// The failures that a response lists, in its head or in its body.
    package static func all(of response: PeerMessage) -> [ListedFailure] {
        if let field = response["Gateway-Failures"] {
            return field.split(separator: ",").compactMap {
                ListedFailure(field: String($0.drop { $0 == " " }))
            }
        }
        let tree = Tree(reading: response.body)
        let list = tree?["failures"] ?? tree?["_gateway"]?["failures"]
        return (list?.elements ?? []).compactMap { ListedFailure($0) }
    }
}
