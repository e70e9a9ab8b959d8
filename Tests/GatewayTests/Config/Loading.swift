import Foundation
import Gateway

/// Loads a configuration out of texts, without a disk.
func load(
    _ files: [String: String], main: String = "c.yaml", environment: [String: String] = [:]
) -> (config: Config?, problems: Problems) {
    ConfigLoader.load(
        main, files: ConfigFiles(texts: files), environment: { environment[$0] })
}

extension ConfigFiles {
    /// Files that are only texts.
    init(texts: [String: String]) {
        self.init(
            read: { path throws(ConfigFileError) in
                guard let text = texts[path] else { throw .notFound }
                return Array(text.utf8)
            },
            list: { directory throws(ConfigFileError) in
                let prefix = directory == "." ? "" : directory
                let names = texts.keys.filter { $0.hasPrefix(prefix) }
                    .compactMap { $0.dropFirst(prefix.count).split(separator: "/").first }
                if names.isEmpty { throw .notFound }
                return Array(Set(names.map(String.init)))
            })
    }
}

/// What `check` says about one file, without the summary; each line without `c.yaml:`.
func problems(
    _ text: String, environment: [String: String] = [:], file: String = "c.yaml"
) -> [String] {
    let lines = load([file: text], main: file, environment: environment).problems.lines
    return lines.dropLast().map { $0.replacingOccurrences(of: "\(file):", with: "") }
}
