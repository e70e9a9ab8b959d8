import Basics
import YAMLReader

@testable import Gateway

extension FuzzTarget {
    /// A configuration file as YAML.
    static let yamlConfig = FuzzTarget(name: "yaml", tokens: configTokens) { input in
        loadingViolation("c.yaml", input)
    }

    /// A configuration file as JSON, which has a different reader.
    static let jsonConfig = FuzzTarget(name: "config", tokens: configTokens) { input in
        loadingViolation("c.json", input)
    }

    private static let configTokens = [
        "\n", "\n  ", "- ", ": ", "{", "}", "[", "]", "\"", "'", "#", "&a", "*a", "!!str", "|", ">",
        "---\n", "${A}", "${A:-b}", "${file:x}", "{id}", "{one.a}", "endpoints", "backends",
        "calls", "route: GET /x", "url", "1ms", "0", "1MiB", "50%", "include", "required: true",
        "\u{1}", "é", "\u{feff}",
    ]

    /// Loading gives either a configuration or errors; a configuration can be planned.
    private static func loadingViolation(_ file: String, _ input: [UInt8]) -> String? {
        let files = ConfigFiles(
            read: { path throws(ConfigFileError) in
                guard path == file else { throw .notFound }
                return input
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let (config, problems) = ConfigLoader.load(
            file, files: files, environment: { $0 == "A" ? "7" : nil })
        guard (config == nil) == (problems.errorCount > 0) else {
            return "neither a configuration nor an error"
        }
        let lineMax = input.count { $0 == 10 || $0 == 13 } + 2
        for problem in problems.sorted where problem.location.line > lineMax {
            return "a problem in line \(problem.location.line), beyond the end of the file"
        }
        guard let config else { return nil }
        do {
            _ = try Planner.plan(config, processors: 2)
            return nil
        } catch {
            return "valid, but without a plan: \(error)"
        }
    }
}
