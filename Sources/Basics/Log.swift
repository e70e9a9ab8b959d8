/// The log of one worker: constant messages with typed fields, as JSON or as text, collected into
/// batches.
///
/// Confined to its worker. A line needs neither a lock nor a system call. The log passes the bytes
/// to the sink when a batch is full, when the owner flushes it, or after a warning or an error.
package final class Log {
    /// The levels, ascending in severity.
    package enum Level: Int, Sendable, Comparable {
        case debug, info, warning, error

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        package var name: StaticString {
            switch self {
            case .debug: "debug"
            case .info: "info"
            case .warning: "warning"
            case .error: "error"
            }
        }
    }

    /// How lines are written.
    package enum Format: Sendable {
        /// One JSON object a line.
        case json
        /// For people: time, level, message, `key=value`.
        case text
        /// The access log in the format of web servers, everything else as `text`.
        case combined
    }

    /// The lowest level that is written.
    package var level: Level
    private let format: Format
    private let clock: () -> Int64
    private let sink: ([UInt8]) -> Void
    private var batch: [UInt8] = []
    private var stamp = TimeStamp()

    /// Called after the first line of a batch, so that the owner schedules a flush.
    package var onFirstLine: (() -> Void)?

    /// Enough lines for one system call, few enough to be cheap in memory.
    private static let batchBytesMax = 16 << 10

    /// - Parameters:
    ///   - clock: nanoseconds since 1970
    ///   - sink: receives whole lines, each with its line end
    package init(
        level: Level, format: Format, clock: @escaping () -> Int64,
        sink: @escaping ([UInt8]) -> Void
    ) {
        self.level = level
        self.format = format
        self.clock = clock
        self.sink = sink
    }

    /// Writes one line; `fields` is not called if the level is too low.
    package func write(
        _ level: Level, _ message: StaticString, _ fields: (inout LogLine) -> Void = { _ in }
    ) {
        guard level >= self.level else { return }
        let isFirst = batch.isEmpty
        var line = LogLine(format: format, text: batch)
        batch = []
        line.begin(stamp.text(at: clock()), level.name, message)
        fields(&line)
        batch = line.end()
        lineWritten(level, isFirst: isFirst)
    }

    /// Writes one line of another format, without its line end.
    ///
    /// - Parameter append: appends the line, which must contain no line end; gets the time in
    ///   nanoseconds since 1970
    package func write(
        _ level: Level, line append: (_ text: inout [UInt8], _ unixTime: Int64) -> Void
    ) {
        guard level >= self.level else { return }
        let isFirst = batch.isEmpty
        append(&batch, clock())
        batch.append(UInt8(ascii: "\n"))
        lineWritten(level, isFirst: isFirst)
    }

    private func lineWritten(_ level: Level, isFirst: Bool) {
        if level >= .warning || batch.count >= Self.batchBytesMax {
            flush()
        } else if isFirst {
            onFirstLine?()
        }
    }

    /// Passes the collected lines to the sink.
    package func flush() {
        guard !batch.isEmpty else { return }
        sink(batch)
        batch.removeAll(keepingCapacity: true)
    }
}
