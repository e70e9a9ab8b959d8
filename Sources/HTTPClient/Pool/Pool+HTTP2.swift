import Basics
import HTTP2
import Reactor

/// Connections that serve several calls at once.
extension Pool {
    /// The protocols that a new connection offers in its TLS handshake.
    var offeredProtocols: ApplicationProtocols {
        guard h2Writer != nil, h2State.http1Until ?? now <= now else { return .http1 }
        return settings.requiresHTTP2 ? .http2 : .both
    }

    func usesHTTP2(_ stream: any ByteStream) -> Bool {
        settings.security == nil
            ? settings.requiresHTTP2 : stream.applicationProtocol == ApplicationProtocols.http2Name
    }

    func connectedHTTP2(
        _ id: ConnectionID, _ stream: any ByteStream, for call: PendingCall?
    ) {
        let streams = min(settings.http2.maxStreams, h2State.acceptedStreams)
        guard let h2Writer,
            let connection = H2ClientConnection(
                id, on: stream, of: self, writer: h2Writer, settings.http2,
                limits: settings.limits, streamsMax: streams)
        else {
            stream.close()
            return failedToConnect(id, ClientFailure.connect(.outOfMemory), for: call)
        }
        expectHTTP2()
        addConnection(connection, on: stream, at: id)
        connection.startReading()
        if let call {
            sendCall(call, on: id)
            setCapacity(id, streams)
        } else {
            perform(machine.completeConnect(id, capacity: streams, at: now))
            serveWaiting(on: id)
        }
        while let surplus = machine.removeSurplus() { release(surplus) }
        armExpiry()
    }

    /// The calls of one iteration share a connection from now on.
    func expectHTTP2() {
        machine.expect(
            capacity: min(settings.http2.maxStreams, h2State.acceptedStreams),
            maxConnections: settings.http2.maxConnections)
    }

    /// Each call needs a connection of its own from now on, as do those that wait.
    func expectHTTP1() {
        machine.expect(capacity: 1, maxConnections: settings.maxConnections)
        connectWaiting()
    }

    /// The number of calls that a connection serves at once has changed.
    func setCapacity(_ id: ConnectionID, _ capacity: Int) {
        perform(machine.setCapacity(id, capacity, at: now))
        serveWaiting(on: id)
        armExpiry()
    }

    private func serveWaiting(on id: ConnectionID) {
        while case .serve(let call, let id) = machine.serveNext(on: id) {
            sendCall(call, on: id)
        }
        connectWaiting()
    }

    private func connectWaiting() {
        while let id = machine.connectNext() { connect(id) }
    }

    /// A backend has stated its limit of streams; later connections begin with it.
    func connectionAccepts(streams: Int) {
        h2State.acceptedStreams = max(1, streams)
        if offeredProtocols != .http1 { expectHTTP2() }
    }

    /// The backend has not processed the request: sends it again on another connection, whatever its
    /// method.
    ///
    /// - Parameter isCounted: false if the backend has processed other calls of the connection. A
    ///   server that ends each connection after some requests, as nginx does, refuses the calls of a
    ///   busy gateway that are beyond: each of its connections takes some of them, so that all are
    ///   processed in the end, however often one is sent again.
    func resendUnprocessed(_ call: PendingCall, _ cause: ClientFailure.Cause, isCounted: Bool) {
        guard call.request.isRepeatable, !isCounted || call.resends.countUnprocessed() else {
            return call.fail(ClientFailure(.connectionTerminated, cause, wasSent: false))
        }
        assignAgain(call)
    }

    /// The connection was lost, and no response had begun: sends the request once more if that is
    /// safe.
    func resendLost(_ call: PendingCall, after failure: ClientFailure) {
        guard call.request.isRepeatable, failure.isSafeToRetry(call.request.method),
            call.resends.countLost()
        else { return call.fail(failure) }
        assignAgain(call)
    }

    private func assignAgain(_ call: PendingCall) {
        call.assignment = .unassigned
        assignConnection(to: call)
    }

    /// The backend requires HTTP/1.1 for the request (RFC 9113 7): uses it for a while, where the
    /// configuration allows that.
    func resendOverHTTP1(_ call: PendingCall) {
        let failure = ClientFailure(
            .protocolError, .reset(H2Code.http11Required.number), wasSent: true)
        guard settings.protocolChoice == .auto else { return call.fail(failure) }
        h2State.http1Until = now + settings.dnsTTL
        expectHTTP1()
        for connection in links.connections {
            (connection as? H2ClientConnection)?.stopCalls()
        }
        resendUnprocessed(call, failure.cause, isCounted: true)
    }

    /// The backend has requested fewer connections: makes none for a second.
    func pauseConnecting() {
        machine.allowConnecting(false)
        h2State.pause.take()?.cancel()
        h2State.pause = loop.timer(after: H2PoolState.pauseDuration) { [unowned self] in
            h2State.pause = nil
            machine.allowConnecting(true)
            connectWaiting()
        }
    }
}
