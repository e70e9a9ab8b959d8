import Basics
import HTTP
import Reactor

/// How a connection reads: messages from bytes, bytes ahead of their time, and how much in a pass.
extension ServerConnection {
    /// Reads messages from bytes, as far as the machine lets it; gives where it stopped.
    ///
    /// A request whose body came together with its head is handed on whole; any other when its head
    /// is complete, so that its reader decides about the body.
    func read(_ bytes: Span<UInt8>) -> Int {
        isReading = true
        defer { isReading = false }
        var whole: (head: RequestHead, body: Bytes)?
        var position = 0
        do throws(WireError) {
            while reading == .consume {
                if unsafe !reader.isInMessage, position < bytes.count, !mayBeginAnother() { break }
                switch try unsafe reader.read(bytes, from: &position) {
                case .needsMore:
                    if unsafe reader.isInHead, unsafe reader.isInMessage { handle(.headBegan) }
                    return position
                case .head(let head):
                    if head.isWhole(with: bytes.count - position) {
                        whole = (head, Bytes())
                    } else {
                        begin(head, nil)
                    }
                case .body(let range):
                    if whole == nil {
                        receive(bytes.extracting(range))
                    } else {
                        whole?.body = Bytes(copying: bytes.extracting(range))
                    }
                case .trailers: break
                case .complete:
                    if let (head, body) = whole {
                        whole = nil
                        begin(head, body)
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

    /// A piece of the body came.
    private func receive(_ piece: Span<UInt8>) {
        unsafe receivedBytes &+= piece.count
        if let body = runner?.requestBody {
            body.deliver(piece)
        } else {
            discardedBytes += piece.count
            if discardedBytes > server.settings.discardedBytes { handle(.discardedTooMuch) }
        }
    }

    /// The last byte of the body came.
    private func endRequestBody() {
        // First, because the reader of the body may have a response at once.
        handle(.bodyEnded)
        runner?.requestBodyEnded()
    }

    // MARK: Ahead of time

    func readAhead() {
        guard !isReading else { return }
        // The end of a body whose last byte was read before a pause needs no further byte.
        if reading == .consume, unsafe ahead.isEmpty, unsafe reader.isInMessage,
            unsafe !reader.isInHead
        {
            _ = read(Span())
        }
        while reading == .consume, unsafe !ahead.isEmpty {
            let bytes = unsafe ahead.bytes
            let end = read(bytes.span)
            unsafe ahead.removeFirst(end)
        }
        updateBudget()
        // The client ended before all that it sent could be read; now it has been.
        if reading == .consume, clientHasEnded { handle(.clientEnded) }
    }

    func pauseIfFull() {
        guard !isPaused, unsafe ahead.count > server.settings.readAheadBytes else { return }
        isPaused = true
        stream.pauseReading()
        handle(.readingPaused)
    }

    /// Only `readOn` reads while reading is paused, so that it comes here behind what it reads.
    func resumeIfRoom() {
        guard isPaused, !isReading, unsafe ahead.count <= server.settings.readAheadBytes else {
            return
        }
        isPaused = false
        handle(.readingResumed)
        stream.resumeReading()
    }

    // MARK: Fairness

    /// Notes that a request begins.
    func countRequest(at now: Instant) {
        begunInIteration = now == lastBegan ? begunInIteration + 1 : 1
        lastBegan = now
    }

    /// Whether another request may begin in this pass of the loop. If not, the connection goes on with
    /// the next pass: a client that sends many small requests at once must not keep other connections
    /// waiting for all of them.
    private func mayBeginAnother() -> Bool {
        guard begunInIteration >= server.settings.requestsPerIteration, lastBegan == server.loop.now
        else {
            return true
        }
        handle(.iterationUsedUp)
        guard reading == .keep else { return true }
        server.loop.timer(after: .zero) { [weak self] in self?.iterationBegan() }
        return false
    }

    private func iterationBegan() {
        begunInIteration = 0
        handle(.iterationBegan)
        // Nothing but empty lines may have been left.
        if isDraining { leaveIdle(.drainRequested) }
    }
}

extension RequestHead {
    /// Whether the body is there too, when so many bytes follow the head.
    fileprivate func isWhole(with available: Int) -> Bool {
        switch framing {
        case .none: true
        case .length(let length): length <= available
        case .chunked, .untilClose: false
        }
    }
}
