package import Assembly
package import Gateway
import System

/// Where a configuration comes from: a file, or a text in its place, such as standard input or
/// the demo.
package struct ConfigSource: Sendable {
    package let path: String
    let isDemo: Bool
    /// The text in the place of the file; nil for a file.
    private let text: [UInt8]?
    /// The demo's variables, which are not in the environment.
    private let variables: [String: String]

    package init(
        path: String, text: [UInt8]? = nil, isDemo: Bool = false, variables: [String: String] = [:]
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
    package func record() throws -> (
        source: RecordedConfig, config: Config?, plan: Plan?, problems: Problems
    ) {
        let recording = ConfigRecording(files: files, environment: variable)
        let (config, problems) = ConfigLoader.load(
            path, files: recording.files, environment: recording.environment,
            contexts: recording.contexts, unixTime: WallClock.unixTime / 1_000_000_000)
        if recording.isMissing(path) { throw StartFailure.noSuchFile(path) }
        let processors = ProcessorQuota.available
        let recorded = recording.recorded(path, isDemo: isDemo, processors: processors)
        guard let config else { return (recorded, nil, nil, problems) }
        let plan = try Planner.plan(
            config, processors: processors, contexts: recording.contexts)
        return (recorded, config, plan, problems)
    }

    /// A variable of the configuration.
    package func variable(_ name: String) -> String? {
        variables[name] ?? Environment.variable(name)
    }

    /// The file system, in which the text that was read once takes the place of its file.
    package var files: ConfigFiles {
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
