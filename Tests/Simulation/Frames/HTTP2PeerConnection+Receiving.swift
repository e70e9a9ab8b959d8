import SimReactor

/// Reads the frames of the gateway, checks them, and gives credit for what arrived.
extension HTTP2PeerConnection {
    func receive(_ bytes: [UInt8]) {
        reader.receive(bytes) { event, range in
            guard !isOver else { return }
            switch event {
            case .broken(let why): events.connectionBroken(why)
            case .frame(let frame):
                if let fault = read(frame, range) {
                    events.frameFault("\(fault) [type \(frame.type), stream \(frame.stream)]")
                }
            }
        }
    }

    /// Reads a frame; returns what is wrong with it.
    private func read(_ frame: PeerFrame, _ range: Range<Int>) -> String? {
        if !hasReceivedSettings, frame.kind != .settings { return "a frame before SETTINGS" }
        if let block, frame.kind != .continuation || frame.stream != block.stream {
            return "a frame within a header block"
        }
        switch frame.kind {
        case .headers:
            guard let content = frame.content else { return "malformed padding" }
            block = (frame.stream, content, frame.has(PeerFrame.endStream), range.lowerBound)
            return frame.has(PeerFrame.endHeaders) ? readBlock(to: range.upperBound) : nil
        case .continuation:
            guard block != nil else { return "CONTINUATION outside of a header block" }
            block?.bytes += frame.payload
            return frame.has(PeerFrame.endHeaders) ? readBlock(to: range.upperBound) : nil
        case .data: return readData(frame, range)
        case .settings: return readSettings(frame)
        case .windowUpdate: return readCredit(frame)
        case .ping: return readPing(frame)
        case .reset: return readReset(frame, range)
        case .goAway:
            guard frame.stream == 0, let last = frame.number(), let code = frame.number(at: 4)
            else {
                return "a malformed GOAWAY"
            }
            events.goAwayReceived(lastID: last & PeerFrame.highestID, code, at: range)
            return nil
        case .pushPromise: return "a push"
        case .priority, nil: return nil
        }
    }

    private func readBlock(to end: Int) -> String? {
        guard let (id, bytes, endsStream, start) = block else { return nil }
        block = nil
        guard let fields = fieldReader.fields(of: bytes) else { return "a malformed header block" }
        if isHost, id > lastOpened {
            guard id % 2 == 1 else { return "a stream with an even id" }
            lastOpened = id
            addStream(id)
        } else if isHost, index(of: id) == nil {
            // It may have been reset meanwhile.
            return nil
        }
        if endsStream { endPeerSide(of: id) }
        events.headReceived(
            ReceivedHead(stream: id, fields: fields, endsStream: endsStream, range: start..<end))
        return nil
    }

    private func endPeerSide(of id: Int) {
        guard let index = index(of: id) else { return }
        streams[index].peerHasEnded = true
        if streams[index].hasEnded { remove(id) }
    }

    private func readData(_ frame: PeerFrame, _ range: Range<Int>) -> String? {
        guard let content = frame.content else { return "malformed padding" }
        connectionCredit -= frame.payload.count
        if connectionCredit < 0 { return "more bytes than the window of the connection allows" }
        guard let index = index(of: frame.stream) else {
            giveCredit(frame.payload.count, to: nil)
            return nil
        }
        if streams[index].peerHasEnded { return "DATA behind the end of a stream" }
        streams[index].credit -= frame.payload.count
        if streams[index].credit < 0 { return "more bytes than the window of the stream allows" }
        let endsStream = frame.has(PeerFrame.endStream)
        if endsStream { endPeerSide(of: frame.stream) }
        giveCredit(frame.payload.count, to: endsStream ? nil : frame.stream)
        events.dataReceived(content, on: frame.stream, endsStream: endsStream, at: range)
        return nil
    }

    private func readSettings(_ frame: PeerFrame) -> String? {
        hasReceivedSettings = true
        if frame.has(PeerFrame.acknowledgement) {
            guard !unacknowledgedWindows.isEmpty else { return "an acknowledgement of nothing" }
            let window = unacknowledgedWindows.removeFirst()
            for index in streams.indices { streams[index].credit += window - creditOfNewStreams }
            creditOfNewStreams = window
            if !isTableChanged, script.tableBytes < FieldReader.defaultTableBytes {
                fieldReader.changeTable(to: script.tableBytes)
            }
            isTableChanged = true
            return nil
        }
        guard frame.payload.count % 6 == 0 else { return "malformed SETTINGS" }
        for start in stride(from: 0, to: frame.payload.count, by: 6) {
            let id = Int(frame.payload[start]) << 8 | Int(frame.payload[start + 1])
            guard let value = frame.number(at: start + 2) else { continue }
            if id == PeerFrame.Setting.initialWindow.rawValue {
                for index in streams.indices { streams[index].window += value - windowOfNewStreams }
                windowOfNewStreams = value
            }
        }
        send(PeerFrame(.settings, flags: PeerFrame.acknowledgement, on: 0))
        sendQueued()
        return nil
    }

    private func readCredit(_ frame: PeerFrame) -> String? {
        guard let increment = frame.number(), increment > 0 else {
            return "a malformed WINDOW_UPDATE"
        }
        if frame.stream == 0 {
            connectionWindow += increment
            if connectionWindow > PeerFrame.highestID { return "too much credit" }
        } else if let index = index(of: frame.stream) {
            streams[index].window += increment
            if streams[index].window > PeerFrame.highestID { return "too much credit" }
        }
        sendQueued()
        return nil
    }

    private func readPing(_ frame: PeerFrame) -> String? {
        guard frame.payload.count == 8 else { return "a malformed PING" }
        guard !frame.has(PeerFrame.acknowledgement) else { return nil }
        send(PeerFrame(.ping, flags: PeerFrame.acknowledgement, on: 0, frame.payload))
        return nil
    }

    private func readReset(_ frame: PeerFrame, _ range: Range<Int>) -> String? {
        guard let code = frame.number(), frame.stream > 0 else { return "a malformed RST_STREAM" }
        if isHost, frame.stream > lastOpened { return "a reset of a stream that is not open" }
        remove(frame.stream)
        events.streamReset(frame.stream, code, at: range)
        return nil
    }

    // MARK: Credit

    /// Gives the gateway credit for received bytes: when half of a window is used.
    private func giveCredit(_ count: Int, to id: Int?) {
        guard count > 0 else { return }
        pendingCredit += count
        var increments: [(stream: Int, count: Int)] = []
        if pendingCredit >= PeerFrame.defaultWindow / 2 {
            increments.append((0, pendingCredit))
            pendingCredit = 0
        }
        if let id, let index = index(of: id) {
            streams[index].pendingCredit += count
            // Half of a closed window is nothing, and credit for each byte would look like a flood.
            let window = max(creditOfNewStreams, script.streamWindow)
            if streams[index].pendingCredit >= max(1, window / 2) {
                increments.append((id, streams[index].pendingCredit))
                streams[index].pendingCredit = 0
            }
        }
        guard !increments.isEmpty else { return }
        guard script.creditDelay > 0 else { return sendCredit(increments) }
        loop.timer(after: .milliseconds(script.creditDelay)) { [weak self] in
            self?.sendCredit(increments)
        }
    }

    private func sendCredit(_ increments: [(stream: Int, count: Int)]) {
        guard !isOver, !isFrozen else { return }
        for (id, count) in increments {
            if id == 0 {
                connectionCredit += count
            } else {
                guard let index = index(of: id), !streams[index].peerHasEnded else { continue }
                streams[index].credit += count
            }
            send(.windowUpdate(count, on: id))
        }
    }
}
