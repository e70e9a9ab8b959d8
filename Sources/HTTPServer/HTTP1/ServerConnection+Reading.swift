import Basics
import HTTP
import Reactor

/// Reading of a connection: messages, bytes that arrive early, and the work per loop iteration.
extension ServerConnection {
    /// Reads messages from bytes, as far as the state machine allows; returns the offset where it
    /// stopped.
    ///
    /// A request whose body arrived together with its head is passed on complete; any other when
    /// its head is complete, so that the service decides about the body.
    func read(_ bytes: Span<UInt8>) -> Int {
        isReading = true
        defer { isReading = false }
        if let runner, runner.isTunnel { return readTunnel(bytes, of: runner) }
        var whole: (head: RequestHead, body: Bytes)?
        var position = 0
        do throws(WireError) {
            while reading == .consume {
                if !reader.isInMessage, position < bytes.count, !mayBeginAnother() { break }
                switch try reader.read(bytes, from: &position) {
                case .needsMore:
                    if reader.isInMessage {
                        pace.heardAt = server.loop.now
                        if reader.isInHead { handle(.headBegan) }
                    }
                    return position
                case .head(let head):
                    if head.isWhole(with: bytes.count - position) {
                        whole = (head, Bytes())
                    } else {
                        beginExchange(head, nil)
                    }
                case .body(let range):
                    if whole == nil {
                        receive(bytes.extracting(range))
                    } else {
                        whole?.body = Bytes(copying: bytes.extracting(range))
                    }
                case .trailers(let range):
                    runner?.requestBody?.receiveTrailers(bytes.extracting(range))
                case .complete:
                    if let (head, body) = whole {
                        whole = nil
                        beginExchange(head, body)
                    } else {
                        endRequestBody()
                    }
                }
            }
        } catch {
            handle(.bodyBroken(error))
            return bytes.count
        }
        return position
    }

    /// After an upgrade all bytes belong to another protocol.
    private func readTunnel(_ bytes: Span<UInt8>, of runner: ExchangeRunner) -> Int {
        guard reading == .consume, !bytes.isEmpty else { return 0 }
        runner.requestBody?.deliver(bytes)
        return bytes.count
    }

    /// A piece of the body arrived.
    private func receive(_ piece: Span<UInt8>) {
        counts.received &+= piece.count
        if let body = runner?.requestBody {
            body.deliver(piece)
        } else {
            counts.discarded += piece.count
            if counts.discarded > server.settings.discardedBytes {
                handle(.discardedTooMuch)
            }
        }
    }

    /// The last byte of the body arrived.
    private func endRequestBody() {
        // First, because the reader of the body may respond at once.
        handle(.bodyEnded)
        runner?.requestBodyEnded()
    }

    // MARK: Bytes that arrive early

    func readAhead() {
        guard !isReading else { return }
        // The last byte of a body may have been read before a pause; only its end remains to be
        // reported.
        if reading == .consume, ahead.isEmpty, reader.isInMessage,
            !reader.isInHead
        {
            _ = read(Span())
        }
        while reading == .consume, !ahead.isEmpty {
            let bytes = ahead.bytes
            let end = read(bytes.span)
            ahead.removeFirst(end)
        }
        updateBudget()
        // The client ended before its data could be read; now all of it is read.
        if reading == .consume, clientHasEnded { handle(.clientEnded) }
    }

    func pauseIfFull() {
        guard !isPaused, ahead.count > server.settings.readAheadBytes else { return }
        isPaused = true
        stream.pauseReading()
        handle(.readingPaused)
        watchForEndSoon()
    }

    /// Only a pause that lasts is worth the system calls: a client that leaves must not occupy the
    /// backend until that reads on.
    private func watchForEndSoon() {
        guard watchTimer == nil else { return }
        watchTimer = server.loop.timer(after: server.settings.endWatchDelay) { [unowned self] in
            watchTimer = nil
            if isPaused, !isClosed { stream.watchForEnd() }
        }
    }

    /// Called at the end of `readOn`, the only reader of stored bytes while reading is paused.
    func resumeIfRoom() {
        guard isPaused, !isReading, ahead.count <= server.settings.readAheadBytes else {
            return
        }
        isPaused = false
        handle(.readingResumed)
        stream.resumeReading()
    }

    // MARK: Fairness

    /// Whether another request may begin in this loop iteration. If not, the connection continues
    /// in the next one: a client that sends many small requests at once must not delay other
    /// connections.
    private func mayBeginAnother() -> Bool {
        let limit = server.settings.requestsPerIteration
        guard pace.isUsedUp(limit, at: server.loop.now) else { return true }
        handle(.iterationUsedUp)
        guard reading == .keep else { return true }
        server.loop.timer(after: .zero) { [self] in iterationBegan() }
        return false
    }

    private func iterationBegan() {
        // The timer keeps a connection alive that was closed meanwhile.
        guard !isClosed else { return }
        pace.begunInIteration = 0
        handle(.iterationBegan)
        // If the stored bytes were only empty lines, the connection is idle.
        if isDraining { leaveIdle(.drainRequested) }
    }
}

/// When requests of a connection began, and when their latest bytes arrived.
struct RequestPace {
    /// When the last request began; the earliest instant before the first one.
    private(set) var lastBegan = Instant(nanoseconds: .min)
    /// How many requests began in that loop iteration, during which the clock is constant.
    var begunInIteration = 0
    /// When the latest piece of an incomplete message arrived.
    var heardAt = Instant(nanoseconds: 0)

    mutating func countRequest(at now: Instant) {
        begunInIteration = now == lastBegan ? begunInIteration + 1 : 1
        lastBegan = now
    }

    /// Whether so many requests began in the present iteration.
    func isUsedUp(_ limit: Int, at now: Instant) -> Bool {
        begunInIteration >= limit && lastBegan == now
    }
}

extension RequestHead {
    /// Whether the whole body has arrived, if so many bytes follow the head.
    fileprivate func isWhole(with available: Int) -> Bool {
        switch framing {
        case .none: true
        case .length(let length): length <= available
        case .chunked, .untilClose: false
        }
    }
}
