import Basics
import HTTP
import Reactor

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
            while machine.reading == .consume {
                if !reader.isInMessage, position < bytes.count, !mayBeginAnother() { break }
                switch try reader.read(bytes, from: &position) {
                case .needsMore:
                    if reader.isInHead, reader.isInMessage { handle(.headBegan) }
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
                        endBody()
                    }
                }
            }
        } catch {
            wireError = error
            handle(.bodyBroken)
            return bytes.count
        }
        return position
    }

    /// A piece of the body came.
    private func receive(_ piece: Span<UInt8>) {
        noteReceived(piece.count)
        if !body.append(piece) {
            if body.lacksRoom { return shed() }
            handle(.bodyRefused)
        }
        if body.discarded > server.settings.discardedBytes { handle(.discardedTooMuch) }
    }

    /// The last byte of the body came.
    private func endBody() {
        running?.exchange.lastByte = server.loop.now
        // Only now it counts, so that a client that sends its body slowly takes no permit.
        guard !body.isWanted || mayGoToWork() else {
            handle(.bodyEnded)
            return answerBusy()
        }
        body.end()
        handle(.bodyEnded)
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
