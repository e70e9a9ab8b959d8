package import TLS
import YAMLReader

/// Reads a configuration with everything that it includes, and checks it.
///
/// It accesses files and environment only through its parameters. It returns all problems at once,
/// and a configuration only if none of them is an error.
package struct ConfigLoader {
    private let files: ConfigFiles
    private var decoder: ConfigDecoder
    /// The files that were read, the main one first.
    private var documents: [DocumentNode] = []

    private init(files: ConfigFiles, environment: @escaping (String) -> String?) {
        self.files = files
        decoder = ConfigDecoder(
            expansion: Expansion(variable: environment, files: files), problems: Problems())
    }

    /// Loads the file at `path`: JSON if it ends in `.json`, else YAML. Returns no configuration if
    /// there is an error.
    ///
    /// - Parameters:
    ///   - contexts: receives the TLS contexts of backends and listeners, which the check creates.
    ///     Pass it to the planner, and to later loads of the same files, so that each is created once
    ///   - unixTime: seconds since 1970, at which the certificates of listeners must be valid; nil for
    ///     files that have been checked before
    package static func load(
        _ path: String, files: ConfigFiles, environment: @escaping (String) -> String?,
        contexts: TLSContexts = TLSContexts(), unixTime: Int64? = nil
    ) -> (config: Config?, problems: Problems) {
        var loader = ConfigLoader(files: files, environment: environment)
        let main: DocumentNode
        do throws(LoadError) {
            main = try loader.document(path)
        } catch {
            loader.decoder.problems.error(at: error.location, error.text)
            return (nil, loader.decoder.problems)
        }
        loader.decoder.warnIfWorldWritable(path)
        var config = Config(location: main.location)
        loader.decoder.decode(main, into: &config, scope: "")
        loader.includeFiles(config.include, of: path, into: &config)
        TraceVariables(environment).complete(&config.traces, &loader.decoder.problems)
        if config.backends.contains(where: \.needsSystemTrust)
            || config.traces?.needsSystemTrust == true || config.store?.needsSystemTrust == true
            || config.authenticators.contains(where: { $0.jwt?.keys?.needsSystemTrust == true })
        {
            config.systemTrust = SystemTrust.file(in: files, environment: environment)
        }

        var check = ConfigCheck(
            config, problems: loader.decoder.problems, unread: loader.decoder.unread,
            contexts: contexts, unixTime: unixTime)
        check.checkAll()
        return (check.problems.errorCount == 0 ? config : nil, check.problems)
    }

    /// A configuration that has been loaded before, as it was written: with the defaults of absent
    /// keys and without secrets, for operators. Nil if it cannot be read again.
    package static func listing(
        _ path: String, files: ConfigFiles, environment: @escaping (String) -> String?
    ) -> JSONTree? {
        var loader = ConfigLoader(files: files, environment: environment)
        guard let main = try? loader.document(path) else { return nil }
        var config = Config(location: main.location)
        loader.decoder.decode(main, into: &config, scope: "")
        loader.includeFiles(config.include, of: path, into: &config)
        return ConfigListing.tree(of: loader.documents)
    }

    private struct LoadError: Error {
        let location: SourceLocation
        let text: String
        var isFileMissing = false
    }

    private mutating func document(_ path: String) throws(LoadError) -> DocumentNode {
        let bytes: [UInt8]
        do {
            bytes = try files.read(path)
        } catch {
            throw LoadError(
                location: SourceLocation(file: path), text: error.message,
                isFileMissing: error == .notFound)
        }
        do {
            let document =
                path.hasSuffix(".json")
                ? try JSONConfigSource.read(bytes, file: path)
                : try YAMLDocument.read(bytes, file: path)
            documents.append(document)
            return document
        } catch {
            throw LoadError(location: error.location, text: error.text)
        }
    }

    // MARK: Include

    private mutating func includeFiles(
        _ patterns: [Located<String>], of main: String, into config: inout Config
    ) {
        var seen = [main]
        for pattern in patterns {
            let path = FilePath.resolve(pattern.value, relativeTo: main)
            let found = FilePattern(path).matches(in: files)
            if found.isEmpty {
                decoder.problems.warning(
                    at: pattern.location, "'\(pattern.quoted)' matches no file")
            }
            for file in found where !seen.contains(file) {
                seen.append(file)
                include(file, named: pattern, into: &config)
            }
        }
    }

    private mutating func include(
        _ file: String, named pattern: Located<String>, into config: inout Config
    ) {
        do throws(LoadError) {
            let root = try document(file)
            decoder.warnIfWorldWritable(file)
            var part = IncludedConfig(location: root.location)
            decoder.decode(root, into: &part, scope: "")
            config.backends += part.config.backends
            config.endpoints += part.config.endpoints
        } catch {
            decoder.markUnread("include", of: config.location)
            let exists = !error.isFileMissing
            let named = pattern.written ?? file
            decoder.problems.error(
                at: exists ? error.location : pattern.location,
                exists ? error.text : "there is no file '\(named)' to include")
        }
    }
}
