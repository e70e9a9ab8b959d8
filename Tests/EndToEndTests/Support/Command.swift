import Foundation

/// One process of the binary. It is terminated with this object if it still runs.
class Command {
    let output: Output
    let errors: Output
    private let process = Process()
    private let ended = Event()

    /// - Parameters:
    ///   - program: another program than the binary
    ///   - environment: the whole environment; only options of sanitizers are inherited
    ///   - input: the content of standard input
    ///   - output: receives its standard output
    ///   - errors: receives its standard error
    init(
        _ arguments: [String], program: URL? = nil, environment: [String: String] = [:],
        in folder: URL? = nil, input: String = "", output: Output = Output(),
        errors: Output = Output()
    ) throws {
        self.output = output
        self.errors = errors
        process.executableURL = try program ?? Binary.url()
        process.arguments = arguments
        process.environment = Sanitizer.options.merging(environment) { _, own in own }
        process.currentDirectoryURL = folder
        process.standardOutput = output.pipe
        process.standardError = errors.pipe
        let stdin = Pipe()
        process.standardInput = stdin
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
    }

    deinit {
        if process.isRunning { signal(SIGKILL) }
    }

    var id: Int32 { process.processIdentifier }

    func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// Waits for its end; a signal's number is negative.
    func exitStatus() throws -> Int32 {
        try ended.wait(for: "the end of the process")
        ended.signal()  // for the next caller
        return process.terminationReason == .exit
            ? process.terminationStatus : -process.terminationStatus
    }

    /// The result of a command that ended by itself.
    struct Result: Equatable {
        var status: Int32
        var output = ""
        var errors = ""
    }

    /// Runs to its end.
    static func run(
        _ arguments: String..., environment: [String: String] = [:], in folder: URL? = nil,
        input: String = ""
    ) throws -> Result {
        let command = try Command(arguments, environment: environment, in: folder, input: input)
        let status = try command.exitStatus()
        return Result(
            status: status, output: try command.output.whole(), errors: try command.errors.whole())
    }
}
