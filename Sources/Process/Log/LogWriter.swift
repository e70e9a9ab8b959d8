import Basics
import Promises
import Reactor
import System

/// The output of the log: a separate thread writes the lines that the other threads append, so a
/// standard output that is full, slow or broken stops no other thread.
///
/// An inbox whose receiver is not a loop: `post` holds the mutex for the time of copying a batch.
/// Lines beyond `LogQueue`'s bound are dropped, oldest first, and reported when writing goes on.
final class LogWriter: MessageInbox {
    private struct State {
        var queue = LogQueue()
        var isClosing = false
        /// The level of the log whose file is to be opened again; nil if it is not.
        var reopening: Log.Level?
        /// Where the thread waits for lines; nil while it works.
        var wakeUp: Gate?
    }

    private enum Step {
        case write(LogQueue.Batch)
        case reopen(Log.Level)
        case wait(Gate)
        case end
    }

    private let file: LogFile?
    private let state = Guarded(State())
    private let hasEnded = Gate()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - format: of the lines that report a loss
    ///   - file: the file in the place of standard output, to be opened again by `reopen`
    static func start(format: Log.Format, file: LogFile?) throws(StartFailure) -> LogWriter {
        let writer = LogWriter(file)
        let thread = Thread.start("log-writer") {
            writer.writeUntilClosed(format)
            writer.hasEnded.open()
        }
        guard let thread else { throw .threads }
        // `close` waits for `hasEnded`, for a bounded time.
        thread.detach()
        return writer
    }

    private init(_ file: LogFile?) { self.file = file }

    /// Queues whole lines. Never waits for the output; false after `close`, for lines that are not
    /// written.
    @discardableResult
    func post(_ lines: [UInt8]) -> Bool {
        let (isOpen, wakeUp) = state.withLock { state in
            if !state.isClosing { state.queue.append(lines) }
            return (!state.isClosing, state.wakeUp.take())
        }
        wakeUp?.open()
        return isOpen
    }

    /// Opens the log file again before the next line is written, and logs the result; false without a
    /// file.
    ///
    /// - Parameter level: of the log
    func reopen(_ level: Log.Level) -> Bool {
        guard file != nil else { return false }
        let wakeUp = state.withLock { state in
            state.reopening = level
            return state.wakeUp.take()
        }
        wakeUp?.open()
        return true
    }

    /// What waits for the output, and how many lines were never written.
    var counts: LogCounts {
        state.withLock { state in
            LogCounts(
                linesDropped: state.queue.linesDropped, bytesQueued: state.queue.bytes,
                bytesMax: state.queue.bytesMax)
        }
    }

    /// Writes the queued lines and ends the thread; returns after `limit` at the latest. Lines that
    /// are appended later are not written.
    func close(within limit: Duration) {
        let wakeUp = state.withLock { state in
            state.isClosing = true
            return state.wakeUp.take()
        }
        wakeUp?.open()
        hasEnded.wait(atMost: limit)
    }

    // MARK: On the writer's thread

    private func writeUntilClosed(_ format: Log.Format) {
        var lossReport: [UInt8] = []
        let log = Log(level: .debug, format: format, clock: { WallClock.unixTime }) {
            lossReport += $0
        }
        let ownLog = Log(level: .debug, format: format, clock: { WallClock.unixTime }) { [self] in
            post($0)
        }
        /// The last write failed in the middle of a line.
        var isMidLine = false
        while let batch = nextBatch(ownLog) {
            lossReport = isMidLine ? [UInt8(ascii: "\n")] : []
            if batch.linesLost > 0 {
                log.write(.warning, "log lines dropped") { $0.add("lines", batch.linesLost) }
            }
            let bytes = lossReport + batch.lines
            let written = StandardStreams.write(bytes, to: 1)
            if written > 0 { isMidLine = bytes[written - 1] != UInt8(ascii: "\n") }
            guard written < bytes.count else { continue }
            state.withLock { state in
                state.queue.recordFailure(
                    of: batch, written: max(0, written - lossReport.count),
                    isLossReported: written >= lossReport.count)
            }
        }
    }

    /// Waits for lines and takes the oldest; nil when the log is closed and all lines are written.
    private func nextBatch(_ log: Log) -> LogQueue.Batch? {
        while true {
            switch nextStep() {
            case .write(let batch): return batch
            case .reopen(let level): reopenFile(log, level)
            case .wait(let wakeUp): wakeUp.wait(atMost: nil)
            case .end: return nil
            }
        }
    }

    private func nextStep() -> Step {
        state.withLock { state in
            if let level = state.reopening.take() { return .reopen(level) }
            if let batch = state.queue.take() { return .write(batch) }
            if state.isClosing { return .end }
            let wakeUp = Gate()
            state.wakeUp = wakeUp
            return .wait(wakeUp)
        }
    }

    /// The former file stays where the new one cannot be opened.
    private func reopenFile(_ log: Log, _ level: Log.Level) {
        log.level = level
        do throws(ServiceFailure) {
            try file?.reopen()
            log.write(.info, "log file reopened")
            log.flush()
        } catch {
            log.write(.error, "log file not reopened") { $0.add("problem", error.line) }
        }
    }
}
