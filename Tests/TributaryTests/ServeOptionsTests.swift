import ArgumentParser
import Testing

@testable import tributary

/// `serve` and `serve CONFIG` are read without the general parser, with the same result.
@Suite struct ServeOptionsTests {
    @Test(arguments: [
        ["serve"], ["serve", "a.yaml"], ["serve", "-"], ["serve", ""], ["serve", "a b"],
    ])
    func simpleFormsMeanTheSameToBoth(_ arguments: [String]) throws {
        let parsed = try #require(try Tributary.parseAsRoot(arguments) as? ServeCommand)
        #expect(ServeOptions(simple: arguments[...]) == parsed.options)
        #expect(parsed.options == ServeOptions(config: arguments.dropFirst().first))
    }

    @Test(arguments: [
        [], ["check", "a.yaml"], ["serve", "--watch"], ["serve", "--watch", "a.yaml"],
        ["serve", "a.yaml", "--watch"], ["serve", "--help"], ["serve", "-h"], ["serve", "--"],
        ["serve", "a.yaml", "b.yaml"], ["help", "serve"], ["--version"], ["health"],
    ])
    func otherFormsNeedTheParser(_ arguments: [String]) {
        #expect(ServeOptions(simple: arguments[...]) == nil)
    }

    @Test func theParserFillsAllOptions() throws {
        let parsed = try ServeCommand.parse([
            "--watch", "--daemonize", "--pid-file", "p", "--log-file", "l", "a.yaml",
        ])
        #expect(
            parsed.options
                == ServeOptions(
                    config: "a.yaml", watch: true, daemonize: true, pidFile: "p", logFile: "l"))
    }
}
