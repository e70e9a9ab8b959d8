package import HTTP
package import Reactor

/// Why a call got no answer from its backend.
package struct ClientFailure: Error, Equatable {
    /// The kinds of RFC 9209 that a client can tell apart.
    package enum Kind: Sendable, Hashable {
        /// The host's name has no address, or the name service does not say.
        case dnsError
        /// Nobody listens there, or nobody can be reached.
        case connectionRefused
        /// The connection did not come about in time.
        case connectionTimeout
        /// The connection ended before the first byte of an answer, or before it was secure.
        case connectionTerminated
        /// Whoever answers there cannot prove to be the one that was meant.
        case certificateError
        /// The connection ended in the middle of the answer.
        case responseIncomplete
        /// The answer's body is larger than the call allows.
        case responseBodySize
        /// This side holds too much in memory to take the answer.
        case memoryLimit
        /// This side has no file descriptor or memory left for one more connection.
        case connectionLimit
        /// The answer is no HTTP, or one that could be read in two ways.
        case protocolError
    }

    /// What went wrong underneath.
    package enum Cause: Sendable, Hashable {
        case network(IOFailure)
        case wire(WireError)
        /// The other side said properly that it would send no more.
        case ended
        /// It spoke before it can have known of the request.
        case unsolicited
        /// Beyond this many milliseconds or bytes.
        case limit(Int)
        /// The name has no address.
        case noAddress
        /// The pool is closed: the process is about to end.
        case poolClosed
        /// Too much is held in memory.
        case memory
    }

    package let kind: Kind
    package let cause: Cause

    /// Whether the other side may have seen something of the request. If not, another host may be
    /// tried at once.
    package let wasSent: Bool

    init(_ kind: Kind, _ cause: Cause, wasSent: Bool) {
        self.kind = kind
        self.cause = cause
        self.wasSent = wasSent
    }

    /// Whether this side lacked the means, so that the failure says nothing about the backend, and
    /// another host or another attempt would fail in the same way.
    package var isLocal: Bool { kind == .memoryLimit || kind == .connectionLimit }

    /// Whether sending the request again can do no harm: nobody saw it, or it may be seen twice.
    package func isSafeToRetry(_ method: Method) -> Bool {
        !wasSent || method.isIdempotent
    }
}

extension ClientFailure {
    /// No address could be had.
    static func lookup(_ failure: IOFailure) -> ClientFailure {
        let kind: Kind = failure.isLocalShortage ? .connectionLimit : .dnsError
        return ClientFailure(kind, .network(failure), wasSent: false)
    }

    /// No connection came about.
    static func connect(_ failure: IOFailure) -> ClientFailure {
        let kind: Kind =
            if failure.isLocalShortage {
                .connectionLimit
            } else {
                failure == .timedOut ? .connectionTimeout : .connectionRefused
            }
        return ClientFailure(kind, .network(failure), wasSent: false)
    }

    /// A connection came about, but no secure one.
    ///
    /// RFC 9209 has kinds of its own for other failures of TLS than those of certificates
    /// (`tls_protocol_error`, `tls_alert_received`). Whoever reads a report can do nothing with the
    /// difference, so they are what they are for every connection; the words tell more.
    static func secure(_ failure: IOFailure) -> ClientFailure {
        let isRefused = if case .certificateRefused = failure { true } else { false }
        return ClientFailure(
            isRefused ? .certificateError : .connectionTerminated, .network(failure),
            wasSent: false)
    }

    /// The connection was lost after the request had been written to it.
    static func lost(_ cause: Cause, responseHasBegun: Bool) -> ClientFailure {
        ClientFailure(
            responseHasBegun ? .responseIncomplete : .connectionTerminated, cause, wasSent: true)
    }
}

extension IOFailure {
    /// Whether this machine had too little of something, whatever the other side does.
    fileprivate var isLocalShortage: Bool { self == .outOfDescriptors || self == .outOfMemory }
}

extension ClientFailure: CustomStringConvertible {
    /// What went wrong, in words for an operator: the `detail` of `expose: details`.
    package var detail: String {
        switch (kind, cause) {
        case (_, .network(let failure)): "\(failure)"
        case (_, .wire(let error)): "malformed answer: \(error)"
        case (.responseIncomplete, .ended): "closed in the middle of the answer"
        case (_, .ended): "closed without an answer"
        case (_, .unsolicited): "said something before it was asked"
        case (.responseBodySize, .limit(let bytes)): "answer larger than \(bytes) bytes"
        case (.dnsError, .limit(let milliseconds)): "no address within \(milliseconds) ms"
        case (_, .limit(let milliseconds)): "no connection within \(milliseconds) ms"
        case (_, .noAddress): "the name has no address"
        case (_, .poolClosed): "the client is closed"
        case (_, .memory): "too much is held in memory"
        }
    }

    package var description: String { "\(kind): \(detail)" }
}
