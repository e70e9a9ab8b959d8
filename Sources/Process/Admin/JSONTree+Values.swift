import Assembly
import Basics
import Gateway

/// Values of the diagnostic pages.
extension JSONTree {
    static func number(_ number: Int) -> JSONTree { .raw("\(number)") }

    static func flag(_ flag: Bool) -> JSONTree { .raw(flag ? "true" : "false") }

    /// Whole milliseconds, as the log has them; never negative.
    static func milliseconds(_ duration: Duration) -> JSONTree {
        .raw("\(max(0, duration.inNanoseconds / 1_000_000))")
    }

    /// RFC 3339, as the log has it.
    static func time(_ unixTime: Int64) -> JSONTree {
        var stamp = TimeStamp()
        return .text(String(Bytes(stamp.text(at: unixTime))))
    }

    /// The numbers of the workers whose data is missing.
    static func missingWorkers(_ reports: [WorkerReport]) -> JSONTree {
        .list(reports.filter { !$0.isUp }.map { .number($0.worker) })
    }
}
