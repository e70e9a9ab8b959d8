import CUV
import Reactor

/// A listening socket on a libuv loop.
///
/// It polls the descriptor and accepts by itself instead of using `uv_listen`, because libuv 1.44
/// cannot pause a listener, and because its handling of a descriptor shortage (closing a reserved
/// descriptor) loops endlessly if another thread takes that descriptor first.
///
/// At the loop's `acceptCeiling`, and when the system has no descriptor left, it stops polling and
/// tries again after `shortageRetryDelay`. So a loop exceeds the ceiling by one connection at most.
final class UVListener: HandleOwner, Listener {
    let address: SocketAddress
    private let loop: UVLoop
    private var handle: Handle<uv_poll_t>?
    private var socket: ListeningSocket?
    private var accept: ((any ByteStream) -> Void)?
    private var isPaused = false

    /// Set while descriptors or memory are short.
    private var shortageTimer: Timer?

    /// Whether the last accepted connection has a number at the ceiling.
    private var isAtCeiling = false

    /// How long a loop without descriptors leaves new connections in the kernel's queue.
    ///
    /// 100 ms: the loop does not spin, and the delay is short for a client.
    private static let shortageRetryDelay = Duration.milliseconds(100)

    /// Connections accepted in one callback, so that many new ones do not starve the others.
    private static let acceptsPerIterationMax = 64

    init(
        _ socket: consuming ListeningSocket, on loop: UVLoop,
        accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) {
        let descriptor = socket.descriptor
        try checked(tributary_listen(descriptor))
        address = socket.address
        handle = try Handle { poll in tributary_uv_poll_init(loop.raw, poll, descriptor) }
        self.socket = consume socket
        self.loop = loop
        self.accept = accept
        super.init()
        handle?.setOwner(self)
        try checked(startPoll())
    }

    deinit { shortageTimer?.cancel() }

    override func abandon() {
        closeSocket()
        _ = accept.take()
    }

    func pause() {
        isPaused = true
        stopPolling()
    }

    func resume() {
        guard isPaused else { return }
        isPaused = false
        startPolling()
    }

    func close() {
        guard let accept = accept.take() else { return }
        // Connections in the queue of an inherited socket wait for the next process.
        if socket?.isInherited == true { return closeSocket() }
        // Until the queue is empty: closing resets the connections that are still in it.
        isAtCeiling = false
        while !isAtCeiling, case .success(let stream)? = acceptNext() { accept(stream) }
        closeSocket()
    }

    private func closeSocket() {
        shortageTimer.take()?.cancel()
        handle = nil  // before its descriptor
        socket = nil
    }

    // MARK: Accepting

    private func startPoll() -> CInt {
        guard let raw = handle?.raw else { return 0 }
        return tributary_uv_poll_start(raw, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            HandleOwner.owner(of: poll, as: UVListener.self)?.acceptWaiting()
        }
    }

    private func startPolling() {
        if startPoll() < 0 { suspendAccepting() }
    }

    private func stopPolling() {
        shortageTimer.take()?.cancel()
        if let raw = handle?.raw { tributary_uv_poll_stop(raw) }
    }

    private func acceptWaiting() {
        loop.beginCallback()
        for _ in 0..<UVListener.acceptsPerIterationMax {
            // The poll may call back after `pause`; libuv stops it only here.
            if isPaused { return stopPolling() }
            guard let accept, let result = acceptNext() else { return }
            switch result {
            case .success(let stream): accept(stream)
            case .failure(let failure):
                if failure == .outOfDescriptors { loop.descriptors.reportShortage(.accept) }
                return suspendAccepting()
            }
            loop.finishCallback()
            if isAtCeiling {
                loop.descriptors.reportShortage(.accept)
                return suspendAccepting()
            }
        }
    }

    /// The next queued connection; nil if there is none.
    private func acceptNext() -> Result<UVStream, IOFailure>? {
        guard let descriptor = socket?.descriptor else { return nil }
        var connection: CInt = 0
        let peer = SocketAddress { storage in
            connection = tributary_accept(descriptor, storage)
            return connection
        }
        if connection == UV_EAGAIN.rawValue { return nil }
        isAtCeiling = Int(connection) >= loop.descriptors.acceptCeiling
        do throws(IOFailure) {
            return .success(
                try UVStream(
                    accepted: checked(connection), peer: isUnix ? .unnamedUnix : peer?.unmapped,
                    on: loop))
        } catch {
            return .failure(error)
        }
    }

    private var isUnix: Bool { if case .unix = address { true } else { false } }

    /// Leaves connections in the kernel's queue for a moment, repeatedly while descriptors are
    /// short.
    private func suspendAccepting() {
        stopPolling()
        // `accept` may have closed this listener.
        guard accept != nil, !isPaused else { return }
        shortageTimer = loop.timer(after: UVListener.shortageRetryDelay) { [weak self] in
            guard let self else { return }
            shortageTimer = nil
            if isPaused { return }
            if hasFreeDescriptor { startPolling() } else { suspendAccepting() }
        }
    }

    /// Whether the next connection would get a number below the ceiling, found out with a
    /// duplicate.
    private var hasFreeDescriptor: Bool {
        guard let descriptor = socket?.descriptor else { return false }
        let copy = tributary_duplicate(descriptor)
        guard copy >= 0 else { return false }
        _ = tributary_close(copy)
        return Int(copy) < loop.descriptors.acceptCeiling
    }
}

extension UVStream {
    /// Takes ownership of an accepted descriptor.
    convenience init(
        accepted descriptor: CInt, peer: SocketAddress?, on loop: UVLoop
    ) throws(IOFailure) {
        do throws(IOFailure) {
            if case .unix = peer {
                let handle = try Handle { pipe in tributary_uv_pipe_init(loop.raw, pipe) }
                try checked(tributary_uv_pipe_open(handle.raw, descriptor))
                self.init(handle.upcast(to: uv_stream_t.self), on: loop, peer: peer)
            } else {
                let handle = try Handle { tcp in tributary_uv_tcp_init(loop.raw, tcp) }
                try checked(tributary_uv_tcp_open(handle.raw, descriptor))
                self.init(handle.upcast(to: uv_stream_t.self), on: loop, peer: peer)
            }
        } catch {
            _ = tributary_close(descriptor)
            throw error
        }
    }
}
