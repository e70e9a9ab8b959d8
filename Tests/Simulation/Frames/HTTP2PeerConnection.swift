import Basics
import Reactor
import SimReactor

/// One side of a connection of HTTP/2, for simulated peers: settings, header blocks, flow control and the
/// bodies that are sent. It checks that the gateway keeps to RFC 9113.
///
/// Its owner passes the bytes that arrive to `receive`, and gets the events of streams.
final class HTTP2PeerConnection {
    private let stream: SimStream
    let loop: SimLoop
    let script: FramingScript
    let isHost: Bool
    unowned let events: any FrameEvents
    var reader: FrameReader
    let fieldReader = FieldReader()

    /// Bytes that this side has sent, also those that are held back.
    private(set) var written = 0
    /// Held back by `hold`.
    private var heldBack: [UInt8] = []
    private var isHolding = false
    private(set) var isOver = false
    /// The windows that were closed at the beginning are open.
    private var areWindowsOpen = false
    /// It sends nothing more, not even acknowledgements.
    var isFrozen = false

    var hasReceivedSettings = false
    /// A header block that is not complete.
    var block: (stream: Int, bytes: [UInt8], endsStream: Bool, start: Int)?

    /// What the gateway may still send.
    var connectionCredit = PeerFrame.defaultWindow
    /// The window that new streams of the gateway have: that of the settings which it has acknowledged.
    var creditOfNewStreams = PeerFrame.defaultWindow
    var unacknowledgedWindows: [Int] = []
    var isTableChanged = false
    var pendingCredit = 0
    /// What this side may still send.
    var connectionWindow = PeerFrame.defaultWindow
    var windowOfNewStreams = PeerFrame.defaultWindow
    /// In order of their ids.
    var streams: [Stream] = []
    /// The highest stream that the gateway has opened.
    var lastOpened = 0

    /// A stream that is open on at least one side.
    struct Stream {
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
            (.headerTableSize, script.tableBytes), (.initialWindow, script.firstWindow),
        ]
        if !isHost { settings.append((.enablePush, 0)) }
        if let most = script.streamsMax { settings.append((.streamsMax, most)) }
        unacknowledgedWindows.append(script.firstWindow)
        send(.settings(settings))
        guard let time = script.opensWindowsAfter else { return }
        loop.timer(after: .milliseconds(time)) { [weak self] in
            guard let self, !isOver else { return }
            areWindowsOpen = true
            changeWindow(to: script.streamWindow)
        }
        if script.trickle > 0 { trickle() }
    }

    /// Opens the windows by a few bytes, again and again.
    private func trickle() {
        loop.timer(after: .milliseconds(20)) { [weak self] in
            guard let self, !isOver, !isFrozen, !areWindowsOpen else { return }
            for index in streams.indices where !streams[index].peerHasEnded {
                streams[index].credit += script.trickle
                send(.windowUpdate(script.trickle, on: streams[index].id))
            }
            trickle()
        }
    }

    /// Changes the window of all streams.
    func changeWindow(to bytes: Int) {
        unacknowledgedWindows.append(bytes)
        send(.settings([(.initialWindow, bytes)]))
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
    func sendQueued() {
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
    func reset(_ id: Int, _ code: PeerCode) -> Int { reset(id, rawCode: code.rawValue) }

    /// Sends RST_STREAM with a code that RFC 9113 need not define.
    func reset(_ id: Int, rawCode: Int) -> Int {
        send(.reset(id, rawCode: rawCode))
        remove(id)
        return written
    }

    /// Whether all of a body was sent, as far as it was passed to `sendBody`.
    func hasSentBody(of id: Int) -> Bool {
        index(of: id).map { streams[$0].queue.isEmpty } ?? true
    }

    /// This side has sent its end.
    private func endSide(of id: Int) {
        guard let index = index(of: id) else { return }
        streams[index].hasEnded = true
        let isClosed = streams[index].peerHasEnded
        if isClosed { remove(id) }
        events.outputEnded(id, at: written)
    }

    // MARK: Streams

    func index(of id: Int) -> Int? { streams.firstIndex { $0.id == id } }

    func addStream(_ id: Int) {
        streams.append(Stream(id: id, credit: creditOfNewStreams, window: windowOfNewStreams))
    }

    func remove(_ id: Int) { streams.removeAll { $0.id == id } }

    // MARK: The end

    /// Nothing is sent or reported any more.
    func end() { isOver = true }
}
