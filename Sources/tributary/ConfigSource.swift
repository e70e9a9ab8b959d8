import ArgumentParser
import Assembly
import Gateway
import GatewayConfig
import Glibc
import TLS
import UVReactor

/// Where a configuration comes from: a file, standard input, or the text of the demo.
struct ConfigSource: Sendable {
    let path: String
    let isDemo: Bool
    /// The text of standard input or of the demo; nil for a file.
    private let text: [UInt8]?
    /// The demo's variables, which are not in the environment.
    private let variables: [String: String]

    init(path: String) {
        self.init(path: path, text: nil)
    }

    /// Made from the argument of a command: `-` is standard input, which is read here, once.
    init(argument: String) throws(StartFailure) {
        guard argument == "-" else {
            self.init(path: argument)
            return
        }
        let name = "<stdin>"
        do throws(ConfigFileError) {
            let text = try WholeInput.read(STDIN_FILENO, upTo: ConfigFiles.bytesMax)
            self.init(path: name, text: text)
        } catch {
            throw .unreadableFile(name, error.message)
        }
    }

    /// The demo, with the addresses of its backends.
    init(demo variables: [String: String]) {
        self.init(
            path: DemoConfig.name, text: Array(DemoConfig.text.utf8), isDemo: true,
            variables: variables)
    }

    private init(
        path: String, text: [UInt8]?, isDemo: Bool = false, variables: [String: String] = [:]
    ) {
        self.path = path
        self.text = text
        self.isDemo = isDemo
        self.variables = variables
    }

    /// Loads the configuration and compiles the plan, recording every file that was read: each
    /// worker compiles its own plan from the same bytes, even if the files change. The plan is nil
    /// if the configuration has an error.
    ///
    /// Throws a `StartFailure` if the file is missing.
    func record() throws -> (
        source: RecordedConfig, config: Config?, plan: Plan?, problems: Problems
    ) {
        let recording = ConfigRecording(files: files) { variables[$0] ?? SystemFiles.variable($0) }
        let (config, problems) = ConfigLoader.load(
            path, files: recording.files, environment: recording.environment,
            contexts: recording.contexts, unixTime: WallClock.unixTime / 1_000_000_000)
        if recording.isMissing(path) { throw StartFailure.noSuchFile(path) }
        let recorded = recording.recorded(
            path, isDemo: isDemo, processors: Processors.available)
        guard let config else { return (recorded, nil, nil, problems) }
        let plan = try Planner.plan(
            config, processors: Processors.available, contexts: recording.contexts)
        return (recorded, config, plan, problems)
    }

    /// The same for commands that need the plan: prints the problems; an error ends the command.
    func checked() throws -> (source: RecordedConfig, config: Config, plan: Plan) {
        let (source, config, plan, problems) = try record()
        StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
        guard let config, let plan else { throw ExitStatus.configurationErrors }
        return (source, config, plan)
    }

    /// The bytes of the file, for `import`.
    func bytes() throws -> [UInt8] {
        do throws(ConfigFileError) {
            return try files.read(path)
        } catch {
            guard error == .notFound else { throw StartFailure.unreadableFile(path, error.message) }
            throw StartFailure.noSuchFile(path)
        }
    }

    /// The same for commands that need only the configuration and one plan, without the recording.
    func loaded() throws -> (config: Config, plan: Plan) {
        let contexts = TLSContexts()
        let (config, problems) = ConfigLoader.load(
            path, files: files, environment: { variables[$0] ?? SystemFiles.variable($0) },
            contexts: contexts, unixTime: WallClock.unixTime / 1_000_000_000)
        StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
        guard let config else {
            let recording = ConfigRecording(files: files) { _ in nil }
            _ = try? recording.files.read(path)
            if recording.isMissing(path) { throw StartFailure.noSuchFile(path) }
            throw ExitStatus.configurationErrors
        }
        return (config, try Planner.plan(config, processors: 1, contexts: contexts))
    }

    /// The file system, in which the text that was read once takes the place of its file.
    var files: ConfigFiles {
        guard let text else { return SystemFiles.files }
        var files = ConfigFiles(
            read: { [path] asked throws(ConfigFileError) in
                asked == path ? text : try SystemFiles.files.read(asked)
            },
            list: SystemFiles.files.list)
        files.isWorldWritable = { [path] asked in
            asked != path && SystemFiles.files.isWorldWritable(asked)
        }
        files.isWorldReadable = SystemFiles.files.isWorldReadable
        return files
    }
}
