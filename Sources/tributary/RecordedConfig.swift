import Gateway
import GatewayConfig
import TLS
import UVReactor

/// A configuration with every byte that was read for it; loading it again gives the same plan.
struct RecordedConfig: Sendable {
    let path: String
    let isDemo: Bool
    fileprivate let contents: [String: Result<[UInt8], ConfigFileError>]
    fileprivate let listings: [String: Result<[String], ConfigFileError>]
    fileprivate let variables: [String: String]
    /// What the first load made of the files for TLS.
    fileprivate let contexts: TLSClientContexts
    /// What the plan's connections must fit; nil before it is known.
    var descriptors: DescriptorBudget?

    /// A plan for the core that asks, one of `workers`; nil is a mistake of ours, since the same bytes
    /// had a plan before.
    func plan(workers: Int) throws(PlanError) -> Plan? {
        let (config, _) = ConfigLoader.load(
            path, files: files, environment: { variables[$0] }, contexts: contexts)
        guard let config else { return nil }
        let plan = try Planner.plan(
            config, processors: Processors.available, workers: workers, contexts: contexts)
        return descriptors.map { plan.fitted(to: $0) } ?? plan
    }

    private var files: ConfigFiles {
        ConfigFiles(
            read: { path throws(ConfigFileError) in
                try (contents[path] ?? .failure(.notFound)).get()
            },
            list: { directory throws(ConfigFileError) in
                try (listings[directory] ?? .failure(.notFound)).get()
            })
    }
}

/// Notes what a loader reads.
final class ConfigRecording {
    private let source: ConfigFiles
    private let lookUp: (String) -> String?
    private var contents: [String: Result<[UInt8], ConfigFileError>] = [:]
    private var listings: [String: Result<[String], ConfigFileError>] = [:]
    private var variables: [String: String] = [:]
    let contexts = TLSClientContexts()

    init(files: ConfigFiles, environment: @escaping (String) -> String?) {
        source = files
        lookUp = environment
    }

    var files: ConfigFiles {
        var files = ConfigFiles(
            read: { path throws(ConfigFileError) in
                let result = Result { () throws(ConfigFileError) in try self.source.read(path) }
                self.contents[path] = result
                return try result.get()
            },
            list: { directory throws(ConfigFileError) in
                let result = Result { () throws(ConfigFileError) in try self.source.list(directory)
                }
                self.listings[directory] = result
                return try result.get()
            })
        files.isWorldWritable = source.isWorldWritable
        return files
    }

    func environment(_ name: String) -> String? {
        let value = lookUp(name)
        variables[name] = value
        return value
    }

    func isMissing(_ path: String) -> Bool {
        if case .failure(.notFound)? = contents[path] { true } else { false }
    }

    func recorded(_ path: String, isDemo: Bool) -> RecordedConfig {
        RecordedConfig(
            path: path, isDemo: isDemo, contents: contents, listings: listings,
            variables: variables, contexts: contexts)
    }
}
