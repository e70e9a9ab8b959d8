import Basics
import HTTP
import Reactor

/// The stage of a listener that serves HTTP/2 without TLS: the first bytes show the protocol, since HTTP/2
/// begins with its preface (RFC 9113 3.4).
final class PrefaceStage: AcceptStage {
    fileprivate let servesHTTP1: Bool

    init(servesHTTP1: Bool) {
        self.servesHTTP1 = servesHTTP1
    }

    func connection(for input: StageInput, in pipeline: AcceptPipeline) -> any AcceptingConnection {
        PrefaceConnection(input, in: pipeline, at: self)
    }
}

/// A connection until its first bytes show the protocol.
///
/// The server's table and the stream hold it. Confined to the loop's thread.
final class PrefaceConnection: AcceptingConnection, ByteStreamDelegate {
    var input: StageInput
    let pipeline: AcceptPipeline
    private let stage: PrefaceStage
    /// A beginning of the preface.
    private var beginning: [UInt8] = []
    private var timer: Timer?
    private let accepted: Instant

    private static let preface = Bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    init(_ input: StageInput, in pipeline: AcceptPipeline, at stage: PrefaceStage) {
        self.input = input
        self.pipeline = pipeline
        self.stage = stage
        accepted = pipeline.server.loop.now
    }

    func begin(_ received: Span<UInt8>) {
        let server = pipeline.server
        timer = server.loop.timer(after: server.settings.limits.headerTimeout) { [weak self] in
            self?.end()
        }
        pipeline.table.updateActivity(at: slot, from: .busy, to: .idle)
        input.read(for: self)
        if !received.isEmpty { streamReceived(received) }
    }

    // MARK: Events of the stream

    func streamReceived(_ bytes: Span<UInt8>) {
        guard beginning.isEmpty else {
            beginning.append(copying: bytes)
            let all = beginning
            return select(by: all.span)
        }
        pipeline.table.updateActivity(at: slot, from: .idle, to: .busy)
        select(by: bytes)
    }

    /// Passes the bytes on with their protocol, or stores them.
    private func select(by bytes: Span<UInt8>) {
        let count = min(bytes.count, Self.preface.count)
        guard bytes.extracting(first: count).isEqual(to: Self.preface.span.extracting(first: count))
        else { return passOn(bytes, as: .http1) }
        if count == Self.preface.count { return passOn(bytes, as: .http2) }
        if beginning.isEmpty { beginning.append(copying: bytes) }
    }

    private func passOn(_ bytes: Span<UInt8>, as applicationProtocol: ApplicationProtocol) {
        timer.take()?.cancel()
        input.applicationProtocol = applicationProtocol
        guard applicationProtocol == .http2 || stage.servesHTTP1 else {
            return pipeline.reject(input, .malformed(.versionNotSupported))
        }
        pipeline.passOn(input, bytes)
    }

    func streamEnded() { end() }

    func streamFailed(_ failure: IOFailure) { end() }

    func streamDrained() {}
    func streamBlocked() {}

    private func end() {
        timer.take()?.cancel()
        pipeline.table.removeActivity(at: slot)
        input.stream.close()
        pipeline.table.remove(self)
    }

    // MARK: As a connection of the server

    func leaveIdle(_ reason: LeaveReason) { end() }

    func close() { end() }

    /// It is idle until its first bytes arrive, like a connection of HTTP/1.1.
    func hasWaited(_ duration: Duration, now: Instant) -> Bool { now - accepted >= duration }

    var holdsMemory: Bool { false }
}

extension Span<UInt8> {
    fileprivate func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }
}
