import ArgumentParser
import Gateway
import UVReactor

/// Where a configuration comes from: a file, or the text of the demo. Every core loads it for
/// itself, so that no two share the memory of a plan.
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

    /// The plan, or nil and the reasons. A missing file ends the command with its own status.
    func load() throws -> (Plan?, Problems) {
        let (config, problems) = ConfigLoader.load(
            path, files: files, environment: { variables[$0] ?? SystemFiles.variable($0) })
        guard let config else { return (nil, problems) }
        return (try Planner.plan(config, processors: Processors.available), problems)
    }

    private var files: ConfigFiles {
        guard let text else { return SystemFiles.files }
        return ConfigFiles(read: { _ in Array(text.utf8) }, list: { _ in [] })
    }
}
