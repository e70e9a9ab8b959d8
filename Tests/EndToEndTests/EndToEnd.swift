import Testing

/// The built binary as its users meet it: processes, signals, files, real sockets on loopback.
///
/// One test at a time, and none of them waits by the clock: they wait for a line of the log, an
/// answer or an exit, each with a limit.
@Suite(.serialized, .tags(.sockets), .timeLimit(.minutes(2)))
enum EndToEnd {}

extension Tag {
    /// Opens sockets of the machine.
    @Tag static var sockets: Self
}
