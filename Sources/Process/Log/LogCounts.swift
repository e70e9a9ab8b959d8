/// The state of the queue in front of the thread that writes the log.
struct LogCounts: Sendable {
    /// Since the start of the process.
    var linesDropped = 0
    var bytesQueued = 0
    var bytesMax = 0
}
