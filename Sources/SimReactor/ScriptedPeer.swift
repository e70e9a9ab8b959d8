import Basics
package import Reactor

/// One end of a connection under the control of a test: it reads, records what it received, and
/// reacts with the closures that the test sets. It uses only `ByteStream`, so it works on both
/// loops.
package final class ScriptedPeer: ByteStreamDelegate {
    package let stream: any ByteStream

    /// Everything read so far.
    package private(set) var received: [UInt8] = []
    package private(set) var hasEnded = false
    package private(set) var blockedCount = 0
    package private(set) var drainedCount = 0
    package private(set) var failures: [IOFailure] = []
    package private(set) var pendingEnds: [PendingEnd] = []

    package var onReceived: (ScriptedPeer) -> Void = { _ in }
    package var onEnded: (ScriptedPeer) -> Void = { _ in }
    package var onDrained: (ScriptedPeer) -> Void = { _ in }
    package var onFlushes: (ScriptedPeer) -> Void = { _ in }
    package var onEndPending: (ScriptedPeer) -> Void = { _ in }
    package var onFailed: (ScriptedPeer) -> Void = { _ in }

    /// Whether it reads what was received before a failed write, also after a pause.
    package var readsAfterFailedWrite = false

    private var isInCall = false

    /// Takes the stream and starts to read.
    package init(_ stream: any ByteStream) {
        self.stream = stream
        stream.startReading(for: self)
    }

    /// Everything read so far, as text.
    package var text: String { String(decoding: received, as: UTF8.self) }

    /// Sends text.
    package func send(_ text: String) { stream.write(Array(text.utf8).span) }

    /// Clears the received bytes, for the next exchange on the connection.
    package func clearReceived() { received = [] }

    package func streamReceived(_ bytes: Span<UInt8>) {
        precondition(!bytes.isEmpty, "a read of nothing")
        received.append(copying: bytes)
        callHandler(onReceived)
    }

    package func streamEnded() {
        hasEnded = true
        callHandler(onEnded)
    }

    package func streamEndPending(_ end: PendingEnd) {
        pendingEnds.append(end)
        callHandler(onEndPending)
    }

    package func streamBlocked() {
        blockedCount += 1
    }

    package func streamDrained() {
        drainedCount += 1
        callHandler(onDrained)
    }

    package func streamFlushes() { callHandler(onFlushes) }

    package func streamFailed(_ failure: IOFailure) {
        failures.append(failure)
        callHandler(onFailed)
    }

    private func callHandler(_ handler: (ScriptedPeer) -> Void) {
        precondition(!isInCall, "the stream called its delegate re-entrantly")
        isInCall = true
        handler(self)
        isInCall = false
    }
}
