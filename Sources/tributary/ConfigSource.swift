import ArgumentParser
import Gateway
import UVReactor

/// Where a configuration comes from: a file, or the text of the demo.
struct ConfigSource: Sendable {
    let path: String
    /// The demo's text, which stands in no file.
    private let text: String?
    /// Variables that are not in the environment.
    private let variables: [String: String]

    init(path: String) {
        self.path = path
        text = nil
        variables = [:]
    }

    /// The demo, with the addresses of its backends.
    init(demo variables: [String: String]) {
        path = DemoConfig.name
        text = DemoConfig.text
        self.variables = variables
    }

    var isDemo: Bool { text != nil }

    /// The plan, or nil and the reasons.
    func load() throws -> (plan: Plan?, problems: Problems) {
        let (_, plan, problems) = try record()
        return (plan, problems)
    }

    /// The plan, with everything that was read for it: each core makes a plan of its own from the
    /// same bytes, whatever happens to the files meanwhile.
    ///
    /// A file that is not there is a `StartFailure`.
    func record() throws -> (source: RecordedConfig, plan: Plan?, problems: Problems) {
        let recording = ConfigRecording(files: files) { variables[$0] ?? SystemFiles.variable($0) }
        let (config, problems) = ConfigLoader.load(
            path, files: recording.files, environment: recording.environment)
        if recording.isMissing(path) { throw StartFailure.noSuchFile(path) }
        let recorded = recording.recorded(path, isDemo: isDemo)
        guard let config else { return (recorded, nil, problems) }
        let plan = try Planner.plan(config, processors: Processors.available)
        return (recorded, plan, problems)
    }

    private var files: ConfigFiles {
        guard let text else { return SystemFiles.files }
        return ConfigFiles(read: { _ in Array(text.utf8) }, list: { _ in [] })
    }
}
