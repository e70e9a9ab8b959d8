/// What a checker or a model accepts although the record cannot show whether it is right.
package enum Excuse: String, CaseIterable, Sendable {
    /// A backend sent unsolicited data on a connection, so that responses cannot be assigned to requests.
    case unsolicitedData
    /// The client left before its response, or did not take it.
    case clientLeft
    /// The client may have been too slow to send or to read.
    case slowClient
    /// A host may not have read what was sent to it, so that the gateway did not read on from the client.
    case slowHost
    /// A 503 may be one of the limits of the server or of the backend.
    case serverLimit
    /// `buffered_bytes` may have been used up.
    case memory
    /// An outage of a host or of the network may be the cause of a failure.
    case outage
    /// The connection of a request to a host may have ended for another reason than the request.
    case lostConnection
    /// The connection of the client may have ended before the request.
    case closedConnection
    /// A drain may have ended the request.
    case drain
    /// Two configurations may have applied.
    case reload
    /// The server may have found a target malformed before its endpoint was known.
    case ambiguousPath
    /// A body of a backend was relayed as it was.
    case relayedBody
    /// When a password was checked, or whether the limit of failures allowed it, is not known.
    case passwordCheck

    /// The largest share of the requests for which 200 seeds may use it, in percent: about twice the share
    /// in 500 seeds, which stands beside it, or more for what few seeds cause.
    package var percentMax: Double {
        switch self {
        case .reload: 25  // 13.7
        case .slowClient, .serverLimit: 15  // 7.6, 7.2
        case .unsolicitedData: 10  // 3.0
        case .clientLeft, .lostConnection, .outage: 8  // 3.9, 3.2, 2.6
        case .closedConnection, .drain, .memory: 2  // 0.6, 0.5, 0.5
        case .slowHost, .ambiguousPath: 1  // 0.2, 0.3
        case .passwordCheck, .relayedBody: 0.5  // 0.05, 0.02
        }
    }
}

/// The requests of a run for which each excuse was used.
final class ExcuseLog {
    private var requests: [Excuse: Set<Int>] = [:]

    /// Counts an excuse for a request if it applies; returns whether it does.
    @discardableResult
    func add(_ excuse: Excuse, _ request: RequestRecord, if applies: Bool = true) -> Bool {
        if applies { requests[excuse, default: []].insert(request.number) }
        return applies
    }

    var counts: [Excuse: Int] { requests.mapValues(\.count) }
}
