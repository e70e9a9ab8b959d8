import Basics
import YAMLReader

@testable import Gateway
@testable import GatewayConfig

extension FuzzTarget {
    /// What an operator wrote, as YAML.
    static let yamlConfig = FuzzTarget(name: "yaml", tokens: configTokens) { input in
        loading("c.yaml", input)
    }

    /// The same as JSON, which has a reader of its own.
    static let jsonConfig = FuzzTarget(name: "config", tokens: configTokens) { input in
        loading("c.json", input)
    }

    private static let configTokens = [
        "\n", "\n  ", "- ", ": ", "{", "}", "[", "]", "\"", "'", "#", "&a", "*a", "!!str", "|", ">",
        "---\n", "${A}", "${A:-b}", "${file:x}", "{id}", "{one.a}", "endpoints", "backends",
        "calls", "route: GET /x", "url", "1ms", "0", "1MiB", "50%", "include", "required: true",
        "\u{1}", "é", "\u{feff}",
    ]

    /// Read, or explained; and what is read has a plan that can be printed.
    private static func loading(_ file: String, _ input: [UInt8]) -> String? {
        let files = ConfigFiles(
            read: { path throws(ConfigFileError) in
                guard path == file else { throw .notFound }
                return input
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let (config, problems) = ConfigLoader.load(
            file, files: files, environment: { $0 == "A" ? "7" : nil })
        guard (config == nil) == (problems.errorCount > 0) else { return "no config and no error" }
        let lineMax = input.count { $0 == 10 || $0 == 13 } + 2
        for problem in problems.sorted where problem.location.line > lineMax {
            return "a problem in line \(problem.location.line) of a file that ends before"
        }
        guard let config else { return nil }
        do {
            _ = try Planner.plan(config, processors: 2)
            return nil
        } catch {
            return "checked, and no plan: \(error)"
        }
    }
}
