import Basics
package import Reactor
package import SimReactor

/// A simulated host of a backend: it reads requests, performs the scripted response of each, and
/// records the outcome.
package final class SimulatedHost {
    package let address: SocketAddress
    private unowned let delegate: any HostDelegate
    private let loop: SimLoop
    private let backendHost: BackendHost
    private var listener: (any Listener)?
    private var connections: [any HostConnection] = []
    /// Serves a connection with another protocol; nil for HTTP/1.1.
    private let serve: ((SimStream) -> any HostConnection)?

    package init(
        at address: SocketAddress, _ backendHost: BackendHost, on loop: SimLoop,
        of delegate: any HostDelegate, serve: ((SimStream) -> any HostConnection)? = nil
    ) {
        self.serve = serve
        self.address = address
        self.backendHost = backendHost
        self.loop = loop
        self.delegate = delegate
    }

    package func listen() throws(IOFailure) {
        guard listener == nil else { return }
        listener = try loop.listen(on: address, sharedPort: false) { [unowned self] stream in
            guard let stream = stream as? SimStream else { return }
            connections.append(serve?(stream) ?? Connection(stream, of: self))
        }
    }

    /// Refuses new connections; existing ones stay open.
    package func refuse() {
        listener?.close()
        listener = nil
    }

    /// Closes the listener and all connections.
    package func close() {
        refuse()
        for connection in connections { connection.close() }
        connections = []
    }

    /// A connection from the gateway to this host.
    private final class Connection: HostConnection, ByteStreamDelegate {
        package let stream: SimStream
        private unowned let host: SimulatedHost
        private var rest: [UInt8] = []
        /// Position of the next request in all bytes read.
        private var position = 0
        /// Number of bytes sent.
        private var sent = 0
        private var requestCount = 0
        private var current: HostRequest?
        /// Position of the first unsolicited byte sent.
        private var unsolicitedStart: Int?
        /// A request arrived after that byte was sent.
        private var wasUsedSince = false
        private var isClosing = false

        package init(_ stream: SimStream, of host: SimulatedHost) {
            self.stream = stream
            self.host = host
            stream.startReading(for: self)
        }

        package func streamReceived(_ bytes: Span<UInt8>) {
            rest.append(copying: bytes)
            if let current, !current.hasResponded, unsolicitedStart == nil {
                host.delegate.recordFault(
                    .busyConnection, (current as? Attempt)?.mark,
                    "a second request on a busy connection")
            }
            switch PeerMessage.read(rest) {
            case .needsMore: return
            case .broken(let why):
                host.delegate.recordFault(
                    .malformed, nil, "the gateway sent a malformed request: \(why)")
            case .message(let message):
                rest.removeFirst(message.length)
                startRequest(message)
                position += message.length
            }
        }

        private func startRequest(_ message: PeerMessage) {
            guard
                let request = host.delegate.hostReceived(
                    message, at: host.backendHost,
                    on: ConnectionPosition(
                        stream: stream, requestStart: position, responseStart: sent,
                        before: requestCount,
                        unsolicitedStart: unsolicitedStart, isFirstAfterUnsolicited: !wasUsedSince))
            else { return }
            requestCount += 1
            current = request
            if unsolicitedStart != nil { wasUsedSince = true }
            sendPieces(request, piece: 0, after: request.script.delay)
        }

        /// Sends the pieces one after the other, then ends the response.
        private func sendPieces(_ request: HostRequest, piece: Int, after delay: Int) {
            let script = request.script
            if case .nothing = script.outcome, script.pieces.isEmpty { return }
            later(delay) { [weak self] in
                guard let self, current === request, !request.hasResponded else { return }
                if piece < script.pieces.count { send(script.pieces[piece]) }
                let next = piece + 1
                if next < script.pieces.count, let pause = script.pause(before: next) {
                    return sendPieces(request, piece: next, after: pause)
                }
                for piece in script.pieces.dropFirst(next) { send(piece) }
                finishResponse(request)
            }
        }

        private func finishResponse(_ request: HostRequest) {
            if case .response = request.script.outcome { request.hasResponded = true }
            if request.script.hasTrailingData {
                unsolicitedStart =
                    unsolicitedStart ?? request.responseStart + request.script.responseLength
            }
            switch request.script.ending {
            case .stays: break
            case .closes: closeWhenSent()
            case .resets: stream.reset()
            case .halfCloses: stream.finishWriting()
            }
            guard let idleEvent = request.script.idleEvent else { return }
            later(idleEvent.delay) { [weak self] in
                guard let self, current === request, stream.incomingJournal.written == position,
                    stream.unsentBytes == 0
                else { return }
                switch idleEvent.kind {
                case .closes: closeConnection()
                case .resets: stream.reset()
                case .sendsData:
                    unsolicitedStart = unsolicitedStart ?? sent
                    send(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull".utf8))
                }
            }
        }

        private func send(_ bytes: [UInt8]) {
            sent += bytes.count
            stream.write(bytes.span)
        }

        private func later(_ milliseconds: Int, _ action: @escaping () -> Void) {
            host.loop.timer(after: .milliseconds(milliseconds), action)
        }

        package func streamEnded() { closeConnection() }

        package func streamBlocked() {}

        package func streamDrained() { if isClosing { closeConnection() } }

        package func streamFailed(_ failure: IOFailure) { recordGivenUp() }

        private func closeWhenSent() {
            stream.finishWriting()
            guard stream.unsentBytes > 0 else { return closeConnection() }
            isClosing = true
        }

        private func closeConnection() {
            recordGivenUp()
            stream.close()
        }

        package func close() { stream.close() }

        private func recordGivenUp() {
            if let current, current.givenUp == nil { current.givenUp = host.loop.now }
            current = nil
        }
    }
}

/// A connection from the gateway to a simulated host, which owns it.
package protocol HostConnection: AnyObject {
    func close()
}

/// The owner of a simulated host.
package protocol HostDelegate: AnyObject {
    /// A request arrived. Returns nil if the host cannot respond to it.
    func hostReceived(_ message: PeerMessage, at host: BackendHost, on position: ConnectionPosition)
        -> HostRequest?

    func recordFault(_ fault: PeerFault, _ mark: String?, _ text: String)
}
