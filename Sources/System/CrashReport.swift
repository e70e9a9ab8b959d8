import CUV

/// The line on standard error that a crash of this process leaves: `deploy/symbols` makes a
/// backtrace of it.
package enum CrashReport {
    /// Writes the line when a signal such as `SIGILL`, with which Swift ends a process whose
    /// precondition fails, ends this process from now on.
    package static func install() {
        tributary_report_crashes()
        useOwnStack()
    }

    /// Lets the calling thread report that its stack is full. Called once by a thread that lives
    /// as long as the process.
    package static func useOwnStack() { tributary_use_crash_stack() }
}
