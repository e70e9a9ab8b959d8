import Glibc
import System

/// The progress of `tributary simulate`: a line on standard error that is rewritten in place. Without
/// effect if standard error is not a terminal.
final class SimulationProgress {
    private let total: Int
    private let isShown: Bool
    private var percent = -1

    init(of total: Int) {
        self.total = max(1, total)
        isShown = isatty(STDERR_FILENO) == 1
    }

    /// Writes at most a hundred times: once for each percent.
    func show(_ done: Int) {
        guard isShown, done * 100 / total > percent else { return }
        percent = done * 100 / total
        StandardStreams.printError("\r\(done) of \(total) requests (\(percent) %)")
    }

    /// Removes the line before the report is written.
    func clear() {
        if percent >= 0 { StandardStreams.printError("\r\u{1B}[K") }
    }
}
