package import Gateway
package import Reactor
package import TLS

/// A copy of all files and variables that were read for a configuration; loading it again gives
/// the same plan.
package struct RecordedConfig: Sendable {
    package let path: String
    package let isDemo: Bool
    /// The machine's processors, for `workers: auto`.
    fileprivate let processors: Int
    fileprivate let contents: [String: Result<[UInt8], ConfigFileError>]
    fileprivate let listings: [String: Result<[String], ConfigFileError>]
    fileprivate let variables: [String: String]
    /// The TLS contexts that the first load created.
    fileprivate let contexts: TLSContexts
    /// The budget that limits the plan's connections; nil before it is known.
    package var descriptors: DescriptorBudget?
    /// Replaces the TLS of backends; set by the simulation, whose streams carry no TLS bytes.
    package var replaceSecurity: (@Sendable (StreamSecurity) -> StreamSecurity?)?

    /// The plan for one of `workers`. An error is internal, because the same bytes had a plan before.
    package func plan(workers: Int) throws(PlanError) -> Plan {
        let (config, _) = ConfigLoader.load(
            path, files: files, environment: { variables[$0] }, contexts: contexts)
        guard let config else { throw PlanError("the configuration cannot be loaded again") }
        let plan = try Planner.plan(
            config, processors: processors, workers: workers, contexts: contexts)
        let fitted = descriptors.map { plan.fitted(to: $0) } ?? plan
        return replaceSecurity.map { fitted.replacingSecurity($0) } ?? fitted
    }

    /// The configuration as it was written, with the defaults of absent keys and without secrets.
    package var listing: JSONTree? {
        ConfigLoader.listing(path, files: files, environment: { variables[$0] })
    }

    /// Identifies the files that were read. Computed at each use: the first use of OpenSSL is slow, and a gateway
    /// without TLS may never need it.
    package var digest: ConfigDigest { currentDigest(in: files) }

    /// The digest of the same files with the content that they have in `files`.
    package func currentDigest(in files: ConfigFiles) -> ConfigDigest {
        ConfigDigest(
            of: path,
            contents: contents.keys.compactMap { path in
                (try? files.read(path)).map { (path, $0) }
            })
    }

    /// Every file and directory that was read, or that was not there.
    package var paths: [String] { Array(contents.keys) + Array(listings.keys) }

    /// Whether the files have the content that was read.
    package func isCurrent(in files: ConfigFiles) -> Bool {
        contents.allSatisfy { path, recorded in
            recorded == Result { () throws(ConfigFileError) in try files.read(path) }
        }
            && listings.allSatisfy { path, recorded in
                recorded.map { $0.sorted() }
                    == Result { () throws(ConfigFileError) in try files.list(path).sorted() }
            }
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

/// Records the files and variables that a loader reads.
package final class ConfigRecording {
    private let source: ConfigFiles
    private let readVariable: (String) -> String?
    private var contents: [String: Result<[UInt8], ConfigFileError>] = [:]
    private var listings: [String: Result<[String], ConfigFileError>] = [:]
    private var variables: [String: String] = [:]
    package let contexts = TLSContexts()

    package init(files: ConfigFiles, environment: @escaping (String) -> String?) {
        source = files
        readVariable = environment
    }

    package var files: ConfigFiles {
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
        files.isWorldReadable = source.isWorldReadable
        return files
    }

    package func environment(_ name: String) -> String? {
        let value = readVariable(name)
        variables[name] = value
        return value
    }

    package func isMissing(_ path: String) -> Bool {
        if case .failure(.notFound)? = contents[path] { true } else { false }
    }

    package func recorded(
        _ path: String, isDemo: Bool = false, processors: Int
    ) -> RecordedConfig {
        RecordedConfig(
            path: path, isDemo: isDemo, processors: processors, contents: contents,
            listings: listings, variables: variables, contexts: contexts)
    }
}
