package import HTTP
import HTTP2
package import Reactor

/// Why a call got no response from its backend.
package struct ClientFailure: Error, Equatable {
    /// The kinds of RFC 9209 that a client can distinguish.
    package enum Kind: Sendable, Hashable {
        /// The host's name has no address, or the look-up failed.
        case dnsError
        /// No process listens on the address, or it is unreachable.
        case connectionRefused
        /// The connection was not made in time.
        case connectionTimeout
        /// The connection ended before the first byte of a response, or before it was secure.
        case connectionTerminated
        /// The certificate of the backend is not accepted.
        case certificateError
        /// The connection ended in the middle of the response.
        case responseIncomplete
        /// The body of the response is larger than the call allows.
        case responseBodySize
        /// The header section of the response is larger than `Limits.headerBytes`, or a field of it than
        /// `Limits.fieldBytesMax`.
        case responseHeaderSize
        /// The response has more fields than `Limits.headerCount`.
        case responseHeaderCount
        /// The memory limit of this side is reached.
        case memoryLimit
        /// This side has no file descriptor or memory left for one more connection.
        case connectionLimit
        /// The response is not HTTP, or is ambiguous.
        case protocolError
    }

    /// The underlying failure.
    package enum Cause: Sendable, Hashable {
        case network(IOFailure)
        case wire(WireError)
        /// The backend ended the connection in an orderly way.
        case ended
        /// The backend sent data before the request.
        case unsolicited
        /// A limit in milliseconds or bytes.
        case limit(Int)
        /// The name has no address.
        case noAddress
        /// The pool is closed: the process ends.
        case poolClosed
        /// The memory limit is reached.
        case memory
        /// The backend has reset the stream of the call, with this code (RFC 9113 7).
        case reset(UInt32)
        /// The backend has not processed the request: GOAWAY, or a refused stream.
        case refused
        /// The frames of the backend are not HTTP/2 (RFC 9113 5.4).
        case frames
        /// A PING was not acknowledged within that many milliseconds.
        case noPong(Int)
        /// The TLS handshake has not selected HTTP/2.
        case notNegotiated
        /// The backend has requested fewer connections: ENHANCE_YOUR_CALM.
        case calm
    }

    package let kind: Kind
    package let cause: Cause

    /// Whether the backend may have received a part of the request. If not, another host may be
    /// tried at once.
    package let wasSent: Bool

    init(_ kind: Kind, _ cause: Cause, wasSent: Bool) {
        self.kind = kind
        self.cause = cause
        self.wasSent = wasSent
    }

    /// Whether resources of this side were short, so that the failure says nothing about the
    /// backend, and another host or attempt would fail in the same way.
    package var isLocal: Bool { kind == .memoryLimit || kind == .connectionLimit }

    /// Whether resending the request is safe: it was not sent, or its method is idempotent.
    package func isSafeToRetry(_ method: Method) -> Bool {
        !wasSent || method.isIdempotent
    }
}

extension ClientFailure {
    /// The head of a response cannot be read.
    static func head(_ error: WireError) -> ClientFailure {
        let kind: Kind =
            switch error {
            case .fieldsTooLarge: .responseHeaderSize
            case .tooManyFields: .responseHeaderCount
            default: .protocolError
            }
        return ClientFailure(kind, .wire(error), wasSent: true)
    }

    /// The backend switched to another protocol than the requested one.
    package static let refusedUpgrade = ClientFailure(
        .protocolError, .wire(.upgrade), wasSent: true)

    /// The look-up failed.
    static func lookup(_ failure: IOFailure) -> ClientFailure {
        let kind: Kind = failure.isLocalShortage ? .connectionLimit : .dnsError
        return ClientFailure(kind, .network(failure), wasSent: false)
    }

    /// The connection was not made.
    static func connect(_ failure: IOFailure) -> ClientFailure {
        let kind: Kind =
            if failure.isLocalShortage {
                .connectionLimit
            } else {
                failure == .timedOut ? .connectionTimeout : .connectionRefused
            }
        return ClientFailure(kind, .network(failure), wasSent: false)
    }

    /// The connection was made, but the TLS handshake failed.
    ///
    /// RFC 9209 has further kinds for failures of TLS (`tls_protocol_error`, `tls_alert_received`).
    /// An operator cannot act on that difference, so these failures have the kind of a lost
    /// connection; the detail says more.
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
    /// Whether this machine is short of a resource, independent of the backend.
    fileprivate var isLocalShortage: Bool { self == .outOfDescriptors || self == .outOfMemory }
}

extension ClientFailure: CustomStringConvertible {
    /// The failure as a text for operators: the `detail` of `expose: details`.
    package var detail: String {
        switch (kind, cause) {
        case (_, .network(let failure)): "\(failure)"
        case (.responseHeaderSize, _): "the header of the response exceeds limits.header_bytes"
        case (.responseHeaderCount, _):
            "the response has more header lines than limits.header_count"
        case (_, .wire(let error)): "malformed response: \(error)"
        case (.responseIncomplete, .ended): "closed in the middle of the response"
        case (_, .ended): "closed without a response"
        case (_, .unsolicited): "sent data before the request"
        case (.responseBodySize, .limit(let bytes)): "response larger than \(bytes) bytes"
        case (.dnsError, .limit(let milliseconds)): "no address within \(milliseconds) ms"
        case (_, .limit(let milliseconds)): "no connection within \(milliseconds) ms"
        case (_, .noAddress): "the name has no address"
        case (_, .poolClosed): "the connection pool is closed"
        case (_, .memory): "memory limit reached"
        case (_, .reset(let code)): "reset by the backend: \(H2Code(number: code))"
        case (_, .refused): "refused by the backend, which has not processed the request"
        case (_, .frames): "the frames of the backend are not HTTP/2"
        case (_, .noPong(let milliseconds)): "no response to a PING within \(milliseconds) ms"
        case (_, .notNegotiated): "the TLS handshake has not selected HTTP/2"
        case (_, .calm): "the backend has requested fewer connections (ENHANCE_YOUR_CALM)"
        }
    }

    package var description: String { "\(kind): \(detail)" }
}
