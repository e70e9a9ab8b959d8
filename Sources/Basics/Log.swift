/// One core's log: constant messages with typed fields, as JSON or as text, gathered into batches.
///
/// Confined to its core. A line costs neither a lock nor a system call; a full batch, a quiet
/// moment or a line of weight hands the bytes to the sink.
package final class Log {
    /// From chatty to grave.
    package enum Level: Int, Sendable, Comparable {
        case debug, info, warning, error

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        var name: StaticString {
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
    }

    /// What is written at all.
    package var level: Level
    private let format: Format
    private let clock: () -> Int64
    private let sink: ([UInt8]) -> Void
    private var batch: [UInt8] = []
    private var stamp = TimeStamp()

    /// Called when the first line of a batch was written, so that the owner schedules a flush.
    package var onFirstLine: (() -> Void)?

    /// Enough lines to be worth a system call, few enough to be no burden.
    private static let batchBytesMax = 16 << 10

    /// - Parameters:
    ///   - clock: nanoseconds since 1970
    ///   - sink: gets whole lines, each with its line end
    package init(
        level: Level, format: Format, clock: @escaping () -> Int64,
        sink: @escaping ([UInt8]) -> Void
    ) {
        self.level = level
        self.format = format
        self.clock = clock
        self.sink = sink
    }

    /// Writes one line; `fields` is not called where the level is too low.
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
        if level >= .warning || batch.count >= Self.batchBytesMax {
            flush()
        } else if isFirst {
            onFirstLine?()
        }
    }

    /// Hands over what was gathered.
    package func flush() {
        guard !batch.isEmpty else { return }
        sink(batch)
        batch.removeAll(keepingCapacity: true)
    }
}
