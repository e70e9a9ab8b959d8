import Basics
import Reactor
import SimReactor

/// One side of a connection of HTTP/2, for simulated peers: settings, header blocks, flow control and the
/// bodies that are sent. It checks that the gateway keeps to RFC 9113.
///
/// Its owner gets the events of streams, and the bytes of the connection belong to it.
final class HTTP2PeerConnection {
    private let stream: SimStream
    private let loop: SimLoop
    let script: FramingScript
    private let isHost: Bool
    private unowned let events: any FrameEvents
    private var reader: FrameReader
    private let fieldReader = FieldReader()

    /// Bytes that this side has sent, also those that are held back.
    private(set) var written = 0
    /// Held back by `hold`.
    private var heldBack: [UInt8] = []
    private var isHolding = false
    private(set) var isOver = false
    /// It sends nothing more, not even acknowledgements.
    var isFrozen = false

    private var hasReceivedSettings = false
    /// A header block that is not complete.
    private var block: (stream: Int, bytes: [UInt8], endsStream: Bool, start: Int)?

    /// What the gateway may still send.
    private var connectionCredit = PeerFrame.defaultWindow
    /// The window that new streams of the gateway have: that of the settings which it has acknowledged.
    private var creditOfNewStreams = PeerFrame.defaultWindow
    private var unacknowledgedWindows: [Int] = []
    private var isTableChanged = false
    private var pendingCredit = 0
    /// What this side may still send.
    private var connectionWindow = PeerFrame.defaultWindow
    private var windowOfNewStreams = PeerFrame.defaultWindow
    /// In order of their ids.
    private var streams: [Stream] = []

    /// A stream that is open on at least one side.
    private struct Stream {
        let id: Int
        var credit: Int
        var pendingCredit = 0
        var window: Int
        var queue: [UInt8] = []
        /// The end of this side follows the queue.
        var endsBehindQueue = false
        var hasEnded = false
        var peerHasEnded = false
        /// Since when its window or that of the connection has blocked it.
        var blockedSince: Instant?
    }

    init(
        _ stream: SimStream, _ script: FramingScript, isHost: Bool, on loop: SimLoop,
        of events: any FrameEvents
    ) {
        self.stream = stream
        self.script = script
        self.isHost = isHost
        self.loop = loop
        self.events = events
        reader = FrameReader(readsPreface: isHost)
    }

    /// Sends the preface and the settings.
    func open() {
        if !isHost { write(PeerFrame.preface) }
        var settings: [(PeerFrame.Setting, Int)] = [
            (.headerTableSize, script.tableBytes), (.initialWindow, script.streamWindow),
        ]
        if !isHost { settings.append((.enablePush, 0)) }
        if let most = script.streamsMax { settings.append((.streamsMax, most)) }
        unacknowledgedWindows.append(script.streamWindow)
        send(.settings(settings))
    }

    // MARK: Sending

    func send(_ frame: PeerFrame) { write(frame.bytes) }

    func write(_ bytes: [UInt8]) {
        guard !isOver, !isFrozen else { return }
        written += bytes.count
        if isHolding { heldBack += bytes } else { stream.write(bytes.span) }
    }

    /// Sends nothing for so many milliseconds.
    func hold(for milliseconds: Int) {
        isHolding = true
        loop.timer(after: .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            isHolding = false
            let bytes = heldBack
            heldBack = []
            if !isOver { stream.write(bytes.span) }
        }
    }

    /// Sends a head, or trailers.
    ///
    /// - Returns: the bytes of its frames, which are sent
    @discardableResult
    func sendHead(
        _ fields: [PeerField], on id: Int, endsStream: Bool,
        pausing pause: (at: Double, milliseconds: Int)? = nil
    ) -> Range<Int> {
        let start = written
        if index(of: id) == nil { addStream(id) }
        let bytes = headFrames(fields, id, endsStream: endsStream)
        if let pause, bytes.count > 1 {
            let cut = max(1, min(bytes.count - 1, Int(Double(bytes.count) * pause.at)))
            write(Array(bytes[..<cut]))
            hold(for: pause.milliseconds)
            write(Array(bytes[cut...]))
        } else {
            write(bytes)
        }
        if endsStream { endSide(of: id) }
        return start..<written
    }

    private func headFrames(_ fields: [PeerField], _ id: Int, endsStream: Bool) -> [UInt8] {
        let block = FieldBlock.written(fields)
        // Fewer CONTINUATION frames than the gateway allows.
        let size = max(script.pieceMax, block.count / 6 + 1)
        let pieces = stride(from: 0, to: block.count, by: size).map {
            Array(block[$0..<min($0 + size, block.count)])
        }
        return pieces.enumerated().flatMap { index, piece in
            let flags = index == pieces.count - 1 ? PeerFrame.endHeaders : 0
            guard index == 0 else {
                return PeerFrame(.continuation, flags: flags, on: id, piece).bytes
            }
            let end = endsStream ? PeerFrame.endStream : 0
            return PeerFrame(
                .headers, flags: flags | end | paddedFlag, on: id, padded(piece)
            ).bytes
        }
    }

    private var paddedFlag: UInt8 { script.pads ? PeerFrame.padded : 0 }

    private func padded(_ content: [UInt8]) -> [UInt8] {
        script.pads ? [3] + content + [0, 0, 0] : content
    }

    /// Sends a part of a body as far as the windows allow, and the rest later.
    func sendBody(_ bytes: [UInt8], on id: Int, endsStream: Bool) {
        guard let index = index(of: id), !streams[index].hasEnded else { return }
        streams[index].queue += bytes
        if endsStream { streams[index].endsBehindQueue = true }
        sendQueued()
    }

    /// Streams take turns, frame by frame.
    private func sendQueued() {
        var isProgress = true
        while isProgress, !isOver, !isFrozen {
            isProgress = false
            for id in streams.map(\.id) {
                guard let index = index(of: id), sendFrame(at: index) else { continue }
                isProgress = true
            }
        }
    }

    /// Sends one DATA frame; false if there is none that may be sent.
    private func sendFrame(at index: Int) -> Bool {
        let stream = streams[index]
        guard !stream.hasEnded, !stream.queue.isEmpty || stream.endsBehindQueue else {
            return false
        }
        let overhead = script.pads ? 4 : 0
        let room = min(stream.window, connectionWindow, PeerFrame.payloadMax) - overhead
        let count = min(stream.queue.count, room, script.pieceMax)
        guard stream.queue.isEmpty || count > 0 else {
            if stream.blockedSince == nil { streams[index].blockedSince = loop.now }
            return false
        }
        let piece = Array(stream.queue.prefix(count))
        streams[index].queue.removeFirst(count)
        streams[index].blockedSince = nil
        let isLast = stream.endsBehindQueue && streams[index].queue.isEmpty
        // An empty frame needs no window, but its padding does.
        let isPadded = script.pads && !piece.isEmpty
        let payload = isPadded ? padded(piece) : piece
        streams[index].window -= payload.count
        connectionWindow -= payload.count
        send(
            PeerFrame(
                .data,
                flags: (isLast ? PeerFrame.endStream : 0) | (isPadded ? PeerFrame.padded : 0),
                on: stream.id, payload))
        if isLast { endSide(of: stream.id) }
        return true
    }

    /// Since when the gateway gives no credit for a stream, although it has read everything that was sent;
    /// nil if it does.
    func starvedSince(_ id: Int) -> Instant? {
        guard let index = index(of: id), let since = streams[index].blockedSince,
            stream.unsentBytes == 0
        else { return nil }
        return stream.outgoingJournal.read == written
            ? stream.outgoingJournal.read(at: written - 1).map { max($0, since) } : nil
    }

    /// Sends RST_STREAM; nothing follows on the stream.
    ///
    /// - Returns: position of the first byte behind the frame
    @discardableResult
    func reset(_ id: Int, _ code: PeerCode) -> Int {
        send(.reset(id, code))
        remove(id)
        return written
    }

    /// Whether all of a body was sent, as far as it was passed to `sendBody`.
    func hasSentBody(of id: Int) -> Bool {
        index(of: id).map { streams[$0].queue.isEmpty } ?? true
    }

    /// Nothing more is sent on the stream.
    func forget(_ id: Int) { remove(id) }

    /// This side has sent its end.
    private func endSide(of id: Int) {
        guard let index = index(of: id) else { return }
        streams[index].hasEnded = true
        let isClosed = streams[index].peerHasEnded
        if isClosed { remove(id) }
        events.outputEnded(id, at: written)
    }

    // MARK: Streams

    private func index(of id: Int) -> Int? { streams.firstIndex { $0.id == id } }

    private func addStream(_ id: Int) {
        streams.append(Stream(id: id, credit: creditOfNewStreams, window: windowOfNewStreams))
    }

    private func remove(_ id: Int) { streams.removeAll { $0.id == id } }

    /// The highest stream that the gateway has opened.
    private(set) var lastOpened = 0

    // MARK: Receiving

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
            if streams[index].pendingCredit >= max(1, creditOfNewStreams / 2) {
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

    /// Changes the window of all streams.
    func changeWindow(to bytes: Int) {
        unacknowledgedWindows.append(bytes)
        send(.settings([(.initialWindow, bytes)]))
    }

    // MARK: The end

    /// Nothing is sent or reported any more.
    func end() { isOver = true }
}

/// A complete header block.
struct ReceivedHead {
    let stream: Int
    let fields: [PeerField]
    let endsStream: Bool
    /// Positions of its frames among all bytes received.
    let range: Range<Int>

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// The owner of a connection. Positions are those among all bytes of a direction.
protocol FrameEvents: AnyObject {
    func headReceived(_ head: ReceivedHead)
    func dataReceived(_ bytes: [UInt8], on stream: Int, endsStream: Bool, at range: Range<Int>)
    func streamReset(_ stream: Int, _ code: Int, at range: Range<Int>)
    func goAwayReceived(lastID: Int, _ code: Int, at range: Range<Int>)
    /// The end of this side of a stream was sent.
    func outputEnded(_ stream: Int, at position: Int)
    /// The gateway has broken the protocol.
    func frameFault(_ text: String)
    /// The bytes are not HTTP/2.
    func connectionBroken(_ why: String)
}
