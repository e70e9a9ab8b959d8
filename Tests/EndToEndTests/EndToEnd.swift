import Testing

/// Tests of the built binary: processes, signals, files, real sockets on loopback.
///
/// The tests run one at a time, without sleeps: they wait for a line of the log, a response or an
/// exit, each with a limit.
@Suite(.serialized, .tags(.sockets), .timeLimit(.minutes(2)))
enum EndToEnd {}

extension Tag {
    /// Opens sockets of the machine.
    @Tag static var sockets: Self
}
