import Assembly
import Basics
import Gateway
import Reactor

/// The log of the process: the lines of the control loop, the level of all lines, and the thread that
/// writes them.
struct ProcessLog {
    /// The control loop's own lines.
    let log: Log
    let level: LogLevelControl
    let writer: LogWriter

    init(_ plan: LogPlan, on loop: any Loop, writer: LogWriter) {
        self.writer = writer
        log = Log(
            level: plan.level.level, format: plan.format.format, clock: { loop.unixTime }
        ) { writer.post($0) }
        level = LogLevelControl(plan.level.level, loop: loop, log: log)
    }

    /// Opens the log file again.
    func reopen() {
        if !writer.reopen(log.level) {
            log.write(.warning, "there is no log file to reopen")
        }
    }
}
