import Foundation
import Testing

extension EndToEnd {
    @Suite struct CommandLineTests {
        @Test func versionOptionPrintsTheNumber() throws {
            let result = try Command.run("--version")
            #expect(result.status == 0 && result.errors.isEmpty)
            #expect(result.output.wholeMatch(of: /tributary \d+\.\d+\.\d+\n/) != nil)
        }

        @Test func versionPrintsTheFactsOfTheBuild() throws {
            let text = try Command.run("version")
            let json = try Command.run("version", "--json")
            #expect(text.status == 0 && json.status == 0)
            let facts = try #require(
                try JSONSerialization.jsonObject(with: Data(json.output.utf8))
                    as? [String: String])
            #expect(facts["version"]?.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
            #expect(["debug", "release"].contains(facts["build"]))
            #expect(facts["swift"]?.hasPrefix("6.") == true)
            #expect(facts["libuv"]?.wholeMatch(of: /\d+\.\d+\.\d+.*/) != nil)
            #expect(facts["openssl"]?.hasPrefix("OpenSSL 3.") == true)
            #expect(facts["nghttp2"]?.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
            #expect(facts["libyaml"]?.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
            #expect(facts["platform"]?.isEmpty == false)
            // Without a clone, what TRIBUTARY_COMMIT names, or `unknown`.
            let isClone = FileManager.default.fileExists(atPath: ".git")
            let commit = try #require(facts["commit"])
            #expect(!isClone || commit.wholeMatch(of: /[0-9a-f]{40}(-dirty)?/) != nil, "\(commit)")
            #expect(!commit.isEmpty)

            let lines = text.output.split(separator: "\n")
            #expect(lines.first == "tributary \(facts["version"] ?? "")")
            for (name, value) in facts where name != "version" {
                #expect(lines.contains { $0.hasPrefix("\(name) ") && $0.hasSuffix(" \(value)") })
            }
            #expect(lines.count == facts.count)
        }

        @Test(arguments: [
            [], ["serve"], ["check"], ["explain"], ["simulate"], ["schema"], ["openapi"],
            ["demo-backends"], ["health"], ["import"], ["version"], ["key", "new"],
        ]) func helpShowsExamples(_ command: [String]) throws {
            let result = try Command(command + ["--help"])
            #expect(try result.exitStatus() == 0)
            #expect(try result.output.whole().contains("EXAMPLES\n  tributary "))
        }

        @Test(arguments: [
            ["fly"], ["check"], ["check", "--strictly", "x.yaml"], ["health", "nonsense"],
            ["serve", "a.yaml", "b.yaml"], ["openapi"], ["import"],
            ["key", "new"], ["key", "new", "a b"], ["key", "new", "a:b", "--basic"],
            ["key", "new", "a", "--expires", "tomorrow"],
            ["demo-backends", "--port", "65535"], ["demo-backends", "--host", "nowhere"],
            ["check", "--replicas", "0", "x.yaml"], ["check", "--replicas", "10001", "x.yaml"],
            ["check", "--replicas", "2", "--format", "json", "x.yaml"],
        ]) func exitsWith64AfterUsageError(_ arguments: [String]) throws {
            let command = try Command(arguments)
            #expect(try command.exitStatus() == 64)
            #expect(try command.errors.whole().hasPrefix("Error: "))
        }

        /// Also after errors that the command finds in its arguments.
        @Test(arguments: [
            (
                ["health", "nonsense"],
                "Usage: tributary health [<url>]\n  See 'tributary health --help'"
            ),
            (["key", "new", "a b"], "Usage: tributary key new "),
            (["fly"], "Error: unknown command 'fly' (commands: serve, check,"),
            (["serv"], "Error: unknown command 'serv' - did you mean 'serve'? (commands: serve,"),
            (
                ["key", "nwe"],
                "Error: unknown command 'key nwe' - did you mean 'new'? (commands: new)"
            ),
        ]) func usageErrorNamesItsCommand(_ arguments: [String], _ text: String) throws {
            let command = try Command(arguments)
            #expect(try command.exitStatus() == 64)
            #expect(try command.errors.whole().contains(text))
        }

        @Test(arguments: ["check", "serve", "openapi", "import"])
        func exitsWith66IfTheFileIsMissing(
            _ command: String
        ) throws {
            let result = try Command.run(command, "/nowhere/to/be/found.yaml")
            let expected = Command.Result(
                status: 66, errors: "tributary: /nowhere/to/be/found.yaml: no such file\n")
            #expect(result == expected)
        }

        @Test(arguments: ["check", "serve"]) func unreadErrorDoesNotKeepTheProcessAlive(
            _ command: String
        ) throws {
            let errors = Output(isRead: false)
            errors.fill()
            let process = try Command([command, "/nowhere/to/be/found.yaml"], errors: errors)
            #expect(try process.exitStatus() == 66)
        }
    }

    /// The reference page compared with the help of the binary.
    @Suite struct ReferenceTests {
        /// A command and the names of its options.
        private struct Description: Decodable {
            let command: Command

            struct Command: Decodable {
                let commandName: String
                let discussion: String?
                let arguments: [Argument]?
                let subcommands: [Command]?

                /// This command and those below it.
                var withSubcommands: [Command] {
                    [self] + (subcommands ?? []).flatMap(\.withSubcommands)
                }

                /// With those of its subcommands.
                var allArguments: [Argument] {
                    let others = (subcommands ?? []).filter { $0.commandName != "help" }
                    return (arguments ?? []) + others.flatMap(\.allArguments)
                }
            }

            struct Argument: Decodable {
                let names: [Name]?

                struct Name: Decodable { let name: String }
            }
        }

        static var root: URL {
            URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
        }

        private func commands() throws -> [Description.Command] {
            try program().subcommands ?? []
        }

        private func program() throws -> Description.Command {
            let result = try Command.run("--experimental-dump-help")
            #expect(result.status == 0)
            let description = try JSONDecoder().decode(
                Description.self, from: Data(result.output.utf8))
            return description.command
        }

        /// The page's text between the heading of a command and the next heading.
        private func section(_ command: String, of page: String) -> Substring? {
            guard let start = page.range(of: "\n## \(command)\n") else { return nil }
            let rest = page[start.upperBound...]
            return rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        }

        @Test func referenceDescribesEveryCommandAndOption() throws {
            let page = try String(
                contentsOf: Self.root.appending(path: "docs/reference/command-line.md"),
                encoding: .utf8)
            let commands = try commands().filter { $0.commandName != "help" }
            #expect(commands.count >= 10)
            for command in commands {
                let text = try #require(
                    section(command.commandName, of: page), "\(command.commandName)")
                #expect(page.contains("`tributary \(command.commandName)"))
                let names = command.allArguments.flatMap { $0.names ?? [] }.map(\.name)
                for name in names where !["help", "h", "version"].contains(name) {
                    let spelled = name.count == 1 ? "`-\(name)`" : "--\(name)"
                    #expect(text.contains(spelled), "\(command.commandName) \(spelled)")
                }
            }
        }

        /// With 80 columns a line of 80 is broken, and its rest begins at the left edge.
        @Test func indentedLinesOfTheHelpFitInto80Columns() throws {
            let lines = try program().withSubcommands.flatMap {
                ($0.discussion ?? "").split(separator: "\n").filter { $0.hasPrefix(" ") }
            }
            #expect(lines.count > 30)
            #expect(lines.filter { $0.count >= 80 } == [])
        }

        /// The options of a command on the man page, by its own lines: `.It Fl -header Ar header , Fl H`.
        private func options(of command: String, onManPage page: String) -> Set<String>? {
            guard let start = page.range(of: "\n.Ss \(command)\n") else { return nil }
            let rest = page[start.upperBound...]
            let end = rest.firstRange(of: #/\n\.S[sh] /#)?.lowerBound ?? rest.endIndex
            let items = rest[..<end].split(separator: "\n").filter { $0.hasPrefix(".It Fl ") }
            return Set(
                items.flatMap { $0.matches(of: /Fl (-?[A-Za-z-]+)/).map { "-" + $0.output.1 } })
        }

        @Test func theManPageHasEveryCommandAndOptionAndNoOther() throws {
            let page = try String(
                contentsOf: Self.root.appending(path: "deploy/man/tributary.1"), encoding: .utf8)
            let commands = try commands().filter { $0.commandName != "help" }
            for command in commands {
                let found = try #require(
                    options(of: command.commandName, onManPage: page), "\(command.commandName)")
                let names = command.allArguments.flatMap { $0.names ?? [] }.map(\.name)
                    .filter { !["help", "h", "version"].contains($0) }
                #expect(
                    found == Set(names.map { ($0.count == 1 ? "-" : "--") + $0 }),
                    "\(command.commandName)")
            }
            let sections = page.matches(of: #/\n\.Ss (.+)/#).map { String($0.output.1) }
            #expect(Set(sections) == Set(commands.map(\.commandName)))
        }

        @Test(arguments: ["bash", "zsh", "fish"]) func generatesShellCompletions(_ shell: String)
            throws
        {
            let result = try Command.run("--generate-completion-script", shell)
            #expect(result.status == 0 && result.output.contains("explain"))
        }

        @Test(arguments: Tool.present(["bash", "zsh", "fish"]))
        func shellsParseTheirCompletions(_ shell: Tool) throws {
            let script = try Command.run("--generate-completion-script", shell.name)
            let folder = try Folder([
                "script": script.output, "broken": script.output + "\nif [ ((",
            ])
            let parsed = try Command(["-n", folder.path("script")], program: shell.url)
            let errors = try parsed.errors.whole()
            #expect(try parsed.exitStatus() == 0, "\(errors)")
            // The control: the option finds errors.
            let broken = try Command(["-n", folder.path("broken")], program: shell.url)
            #expect(try broken.exitStatus() != 0)
        }

        @Test(arguments: Tool.present(["mandoc"])) func theManPageIsWellFormed(_ mandoc: Tool)
            throws
        {
            let lint = try Command(
                ["-Tlint", "-W", "warning", "deploy/man/tributary.1"], program: mandoc.url,
                in: Self.root)
            #expect(try lint.exitStatus() == 0 && lint.output.whole().isEmpty)
        }

        /// The units, with the path of this build: systemd looks for the program.
        @Test(arguments: Tool.present(["systemd-analyze"]))
        func systemdAcceptsTheUnits(_ analyze: Tool) throws {
            let folder = try Folder()
            let program = try Binary.url().path
            for unit in ["tributary.service", "tributary.socket"] {
                let text = try String(
                    contentsOf: Self.root.appending(path: "deploy/systemd/\(unit)"),
                    encoding: .utf8)
                try folder.write(
                    unit, text.replacing("/usr/local/bin/tributary", with: program))
            }
            let verify = try Command(
                [
                    "verify", "--man=no", folder.path("tributary.service"),
                    folder.path("tributary.socket"),
                ],
                program: analyze.url, environment: ["PATH": "/usr/bin:/bin"])
            #expect(try verify.exitStatus() == 0)
            #expect(try verify.errors.whole() == "")

            // The control: a mistake is found.
            try folder.write("wrong.service", "[Service]\nExecStart=/nowhere\nNoSuchKey=1\n")
            let wrong = try Command(
                ["verify", "--man=no", folder.path("wrong.service")], program: analyze.url,
                environment: ["PATH": "/usr/bin:/bin"])
            #expect(try wrong.errors.whole().contains("NoSuchKey"))
        }
    }

    @Suite struct CheckTests {
        static let good = """
            version: 1
            backends:
              users: { url: http://127.0.0.1:7004 }
              offers: { url: http://127.0.0.1:7005 }
            endpoints:
              - route: GET /home
                succeed_when: any
                calls:
                  profile: { from: users, get: /me }
                  recommended: { from: offers, get: "/for/{profile.segment}" }

            """

        @Test func summarizesValidConfiguration() throws {
            let folder = try Folder(["good.yaml": Self.good])
            let result = try Command.run("check", "good.yaml", in: folder.url)
            let expected = Command.Result(
                status: 0,
                output: """
                    OK  1 endpoint, 2 calls, 2 backends
                    GET /home   profile -> recommended     deadline 5s, one is enough
                    ('!' = required, '->' = waits for)

                    """)
            #expect(result == expected)
        }

        @Test func reportsEveryProblem() throws {
            let bad = Self.good.replacing("from: users", with: "form: users")
                .replacing("profile.segment", with: "profil.segment")
            let folder = try Folder(["bad.yaml": bad])
            let result = try Command.run("check", "bad.yaml", in: folder.url)
            let expected = Command.Result(
                status: 1,
                errors: """
                    bad.yaml:9:18: error: unknown key 'form' in call 'profile' - did you mean 'from'?
                            profile: { form: users, get: /me }
                                       ^
                    bad.yaml:10:48: error: call 'recommended' uses {profil.segment}; there is no call 'profil' (calls here: profile, recommended)
                            recommended: { from: offers, get: "/for/{profil.segment}" }
                                                                     ^
                    2 errors

                    """)
            #expect(result == expected)
        }

        @Test func theLimitsOfReplicasAreAddedUp() throws {
            let text =
                "workers: 2\nlimits: { connections_per_client: 5, buffered_bytes: 64MiB }\n"
                + Self.good.replacing(
                    "7004 }",
                    with: """
                        7004, max_concurrent: 5, queue: { size: 10, wait: 1s }, breaker: {},
                            eject: { after: 3 }, health: { path: /up, every: 2s } }
                        """)
            let folder = try Folder(["good.yaml": text])
            let result = try Command.run("check", "--replicas", "3", "good.yaml", in: folder.url)
            #expect(result.status == 0)
            // A limit of 5 is 3 for each of two workers.
            #expect(
                result.output.hasSuffix(
                    """
                    limit                                  one replica   3 replicas
                    limits.connections                           10000        30000
                    limits.connections_per_client                    5           15
                    limits.requests_in_flight                     2000         6000
                    limits.buffered_bytes                        64MiB       192MiB
                    limits.handshakes                              256          768
                    limits.streams                               10000        30000
                    users.max_concurrent                             6           18
                    users.queue.size                                10           30
                    users.keepalive.max_idle, each host           1024         3072
                    offers.keepalive.max_idle, each host          1024         3072
                    each of 6 workers by itself:
                      users.breaker: min_requests 20
                      users.eject: after 3 failures
                      users.health: 6 checks of each host in 2s

                    """), "\(result.output)")
        }

        @Test(arguments: [(["check"], 0), (["check", "--strict"], 2)] as [([String], Int32)])
        func warningsFailOnlyWithStrict(_ command: [String], _ status: Int32) throws {
            let warned = Self.good.replacing(
                "users: { url", with: "spare: { url: http://127.0.0.1:1 }\n  users: { url")
            let folder = try Folder(["warned.yaml": warned])
            let check = try Command(command + ["warned.yaml"], in: folder.url)
            #expect(try check.exitStatus() == status)
            #expect(
                try check.errors.whole()
                    == """
                    warned.yaml:3:3: warning: backend 'spare' is never called
                        spare: { url: http://127.0.0.1:1 }
                        ^
                    1 warning

                    """)
        }
    }
}

extension EndToEnd {
    @Suite struct ToolTests {
        private let folder: Folder

        init() throws {
            folder = try Folder(["good.yaml": CheckTests.good])
        }

        @Test func checksStandardInput() throws {
            let good = try Command.run("check", "-", input: CheckTests.good)
            #expect(good.status == 0 && good.output.hasPrefix("OK  1 endpoint, "))
            let bad = try Command.run(
                "check", "-", input: CheckTests.good.replacing("version: 1", with: "version: 2"))
            #expect(
                bad
                    == Command.Result(
                        status: 1,
                        errors: """
                            <stdin>:1:10: error: 'version' must be 1
                              version: 2
                                       ^
                            1 error

                            """))
        }

        @Test func findsFilesThatStandardInputIncludes() throws {
            try folder.write("more.yaml", "endpoints: []\nbackends: {}\nlisten: 127.0.0.1:1\n")
            let result = try Command.run(
                "check", "-", in: folder.url, input: CheckTests.good + "include: more.yaml\n")
            #expect(result.status == 1)
            #expect(
                result.errors.hasPrefix("more.yaml:3:1: error: 'listen' belongs into the main file")
            )
        }

        @Test func writesProblemsAsJSON() throws {
            let good = try Command.run("check", "--format", "json", "good.yaml", in: folder.url)
            #expect(
                good
                    == Command.Result(
                        status: 0, output: #"{"errors":0,"warnings":0,"problems":[]}"# + "\n"))
            try folder.write(
                "bad.yaml", CheckTests.good.replacing("get: /me", with: "gte: \"/m\\\"e\""))
            let bad = try Command.run("check", "--format", "json", "bad.yaml", in: folder.url)
            #expect(bad.status == 1 && bad.errors.isEmpty)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(bad.output.utf8)) as? [String: Any])
            #expect(json["errors"] as? Int == 1)
            let problem = try #require((json["problems"] as? [[String: Any]])?.first)
            #expect(
                problem["file"] as? String == "bad.yaml"
                    && problem["severity"] as? String == "error")
            #expect(problem["line"] as? Int == 9 && problem["column"] as? Int == 31)
            #expect(
                problem["text"] as? String
                    == "unknown key 'gte' in call 'profile' - did you mean 'get'?")
        }

        @Test func writesProblemsAsAnnotations() throws {
            try folder.write("bad.yaml", CheckTests.good.replacing("get: /me", with: "gte: /me"))
            let bad = try Command.run("check", "--format", "github", "bad.yaml", in: folder.url)
            let expected = Command.Result(
                status: 1,
                output: """
                    ::error file=bad.yaml,line=9,col=31::unknown key 'gte' in call 'profile' - did you mean 'get'?

                    """)
            #expect(bad == expected)
            let missing = try Command.run(
                "check", "--format", "github", "none.yaml", in: folder.url)
            #expect(missing.status == 66 && missing.errors.isEmpty)
            #expect(missing.output == "::error file=none.yaml,line=1,col=1::no such file\n")
            let good = try Command.run("check", "--format", "github", "good.yaml", in: folder.url)
            #expect(good == Command.Result(status: 0))
        }

        /// A key may stand in the place of its hash.
        @Test func showsNoLineOfAKeyFile() throws {
            try folder.write("keys.yaml", "- id: ann\n  hash: hunter2\n")
            let text = CheckTests.good.replacing(
                "backends:",
                with:
                    "auth: { p: { api_key: { keys: keys.yaml } } }\ndefaults: { auth: p }\nbackends:"
            )
            let result = try Command.run("check", "-", in: folder.url, input: text)
            #expect(
                result.status == 1 && result.errors.hasPrefix("keys.yaml:2:9: error: 'hash' in "))
            #expect(!result.errors.contains("hunter2"))
        }

        @Test func writesMissingFileAsJSON() throws {
            let result = try Command.run("check", "--format", "json", "/nowhere/to/be/found.yaml")
            #expect(result.status == 66 && result.errors.isEmpty)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
            let problem = try #require((json["problems"] as? [[String: Any]])?.first)
            #expect(problem["file"] as? String == "/nowhere/to/be/found.yaml")
            #expect(problem["text"] as? String == "no such file")
        }

        @Test func explainAcceptsShortOptions() throws {
            let result = try Command.run("explain", "-h")
            #expect(result.status == 0 && result.output.contains("USAGE: tributary explain"))
            let used = try Command.run(
                "explain", "-H", "Accept: */*", "good.yaml", "GET", "/home", in: folder.url)
            #expect(used.status == 0)
        }

        @Test(
            arguments: [
                (["GET", "/home"], 0), (["GET", "/none"], 1), (["DELETE", "/home"], 1),
            ] as [([String], Int32)])
        func explainSucceedsOnlyIfAnEndpointAccepts(
            _ request: [String], _ status: Int32
        ) throws {
            let command = try Command(["explain", folder.path("good.yaml")] + request)
            #expect(try command.exitStatus() == status)
        }

        /// The backends are loopback addresses where the test would detect a connection.
        @Test func explainSendsNothing() throws {
            let backend = try Socket(listeningOn: 0)
            let text = CheckTests.good.replacing(
                "127.0.0.1:7004", with: "127.0.0.1:\(backend.port)")
            try folder.write("good.yaml", text)
            let result = try Command.run("explain", "good.yaml", "GET", "/home", in: folder.url)
            #expect(result.status == 0 && result.errors.isEmpty)
            #expect(result.output.hasPrefix("route     GET /home    good.yaml:6\n"))
            #expect(result.output.contains("GET http://127.0.0.1:\(backend.port)/me "))
            var waiting = pollfd(fd: backend.descriptor, events: Int16(POLLIN), revents: 0)
            #expect(poll(&waiting, 1, 0) == 0, "no connection")
        }

        @Test(arguments: [["GE T", "/home"], ["GET", "home"], ["GET", "*"]])
        func explainRefusesInvalidRequest(_ request: [String]) throws {
            let command = try Command(["explain", folder.path("good.yaml")] + request)
            #expect(try command.exitStatus() == 64)
        }

        /// The complete path: the output describes the call, and the backend received the request.
        @Test func explainSendsTheRequestWithRun() throws {
            let backend = try Backend()
            try folder.write(
                "run.yaml",
                "version: 1\n" + plain(backend, route: "GET /items/{id}", path: "\"/i/{id}\""))
            let result = try Command.run(
                "explain", "--run", "run.yaml", "GET", "/items/a%2Fb", in: folder.url)
            #expect(result.status == 0 && result.errors.isEmpty)
            let lines = result.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 7)
            #expect(lines[4].contains("one  GET \(backend.url)/i/a%2Fb   200   |"))
            #expect(lines[4].contains("####"))
            #expect(lines[5].hasPrefix("answer    200 after "))
            #expect(lines[6] == #"body      {"one":{"asked":"/i/a%2Fb"}}"#)
        }

        @Test func explainReportsUnreachableBackend() throws {
            let gone = try Socket(listeningOn: 0).port
            try folder.write(
                "gone.yaml",
                CheckTests.good.replacing("127.0.0.1:7004", with: "127.0.0.1:\(gone)"))
            let result = try Command.run(
                "explain", "--run", "gone.yaml", "GET", "/home", in: folder.url)
            #expect(result.status == 0)
            #expect(result.output.contains("connection_refused"))
            #expect(result.output.contains("skipped: a call that it waits for failed"))
            #expect(result.output.contains("answer    502 after "))
        }

        @Test func explainWritesJSON() throws {
            let backend = try Backend()
            try folder.write(
                "run.yaml",
                "version: 1\n" + plain(backend, route: "GET /items/{id}", path: "\"/i/{id}\""))
            for isRun in [false, true] {
                let command = try Command(
                    ["explain", "--format", "json"] + (isRun ? ["--run"] : [])
                        + ["run.yaml", "GET", "/items/7"], in: folder.url)
                #expect(try command.exitStatus() == 0)
                let json = try Self.object(try command.output.whole())
                #expect(json["accepted"] as? Bool == true)
                #expect(json["route"] as? String == "GET /items/{id}")
                #expect(json["file"] as? String == "run.yaml")
                let lines = try #require(json["lines"] as? [String])
                #expect(lines.first?.hasPrefix("route     GET ") == true)
                let call = try #require((json["calls"] as? [[String: Any]])?.first)
                #expect(call["state"] as? String == "sent")
                #expect(call["request"] as? String == "GET \(backend.url)/i/7")
                #expect(call["outcome"] as? String == (isRun ? "200" : nil))
                let response = json["response"] as? [String: Any]
                let body = #"{"one":{"asked":"/i/7"}}"#
                #expect(response?["body"] as? String == (isRun ? body : nil))
            }
        }

        @Test func explainWritesRefusalAsJSON() throws {
            let result = try Command.run(
                "explain", "--format", "json", "good.yaml", "GET", "/none", in: folder.url)
            #expect(result.status == 1)
            let json = try Self.object(result.output)
            #expect(json["accepted"] as? Bool == false && json["route"] is NSNull)
            #expect(json["lines"] as? [String] == ["route     none: 404"])
        }

        private static func object(_ text: String) throws -> [String: Any] {
            try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        @Test func openapiWritesJSON() throws {
            let result = try Command.run(
                "openapi", "--title", "Home", "--server", "https://h", "good.yaml", in: folder.url)
            #expect(result.status == 0 && result.errors.isEmpty)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
            #expect((json["info"] as? [String: String])?["title"] == "Home")
            #expect((json["paths"] as? [String: Any])?["/home"] != nil)
        }

        @Test func openapiNeedsValidConfiguration() throws {
            let result = try Command.run("openapi", "-", input: "version: 2\n")
            #expect(result.status == 1 && result.output.isEmpty)
            #expect(result.errors.hasPrefix("<stdin>:1:10: error: 'version' must be 1\n"))
        }

        private static let krakend = """
            { "version": 3, "plugin": {}, "endpoints": [
              { "endpoint": "/a", "backend": [{ "host": ["http://a"], "url_pattern": "/b" }] } ] }
            """

        @Test func importWritesConfigurationAndReportsNotes() throws {
            let result = try Command.run("import", "-", input: Self.krakend)
            #expect(result.status == 0)
            // The endpoint has a call, so that redirects matter.
            #expect(result.errors.hasPrefix("<stdin>:1:1: note: KrakenD follows redirects of "))
            #expect(result.errors.contains("\n<stdin>:1:17: note: 'plugin' is left out: "))
            #expect(
                result.errors.hasSuffix("\n1 endpoint: 1 written; 0 warnings, 2 notes\n"))
            let check = try Command.run("check", "-", input: result.output)
            #expect(check.status == 0 && check.output.hasPrefix("OK  1 endpoint, "))
        }

        @Test func importOfProtectedEndpointExitsWith3() throws {
            let protected = Self.krakend.replacing(
                "] } ] }",
                with: """
                    ] }, { "endpoint": "/p", "extra_config": { "auth/validator": {} },
                      "backend": [{ "host": ["http://a"], "url_pattern": "/p" }] } ] }
                    """)
            let result = try Command.run("import", "-", input: protected)
            #expect(result.status == 3)
            #expect(!result.output.contains("\n  - route: GET /p\n"))
            #expect(result.errors.contains("1 left out (1 because of protection)"))
            let check = try Command.run("check", "-", input: result.output)
            #expect(check.status == 0 && check.output.hasPrefix("OK  1 endpoint, "))

            let open = try Command.run("import", "--open-protected", "-", input: protected)
            #expect(open.status == 3)
            #expect(open.output.contains("\n  - route: GET /p\n"))
        }

        /// KrakenD accepts the pattern; only the endpoint is left out.
        @Test func importChecksItsOutput() throws {
            let wrong = Self.krakend.replacing("\"/b\"", with: "\"/100%\"")
            let result = try Command.run("import", "-", input: wrong)
            #expect(result.status == 3)
            #expect(
                result.errors.contains(
                    "<stdin>:2:74: warning: endpoint GET /a is left out: 'get' in call 'call' has a '%'"
                ))
        }

        @Test func importWritesJSON() throws {
            let result = try Command.run("import", "--format", "json", "-", input: Self.krakend)
            #expect(result.status == 0 && result.errors.isEmpty)
            let json = try Self.object(result.output)
            #expect(json["endpoints"] as? Int == 1 && json["written"] as? Int == 1)
            #expect(json["notes"] as? Int == 2 && json["errors"] as? Int == 0)
            let problem = try #require((json["problems"] as? [[String: Any]])?.last)
            #expect(problem["severity"] as? String == "note")
            #expect(problem["column"] as? Int == 17)
            let text = try #require(json["configuration"] as? String)
            let plain = try Command.run("import", "-", input: Self.krakend)
            #expect(text == plain.output)

            let failed = try Command.run("import", "--format", "json", "-", input: "[")
            #expect(failed.status == 1)
            let failure = try Self.object(failed.output)
            #expect(failure["errors"] as? Int == 1 && failure["configuration"] is NSNull)
        }

        @Test func importReportsInvalidJSON() throws {
            let result = try Command.run("import", "-", input: "[")
            #expect(result.status == 1 && result.output.isEmpty)
            #expect(result.errors.contains("error: this is not valid JSON"))
        }

        @Test func demoBackendsRespondUntilASignal() throws {
            let backends = try Command(["demo-backends", "--port", "0"])
            let line = try backends.output.line("the last backend") { $0.hasPrefix("users ") }
            let address = String(line.split(separator: "/").last ?? "")
            #expect(try Client.request(address, "GET /me").status == 200)
            backends.signal(SIGTERM)
            #expect(try backends.exitStatus() == 0)
        }

        @Test func schemaWritesJSON() throws {
            let result = try Command.run("schema")
            #expect(result.status == 0)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
            #expect((json["properties"] as? [String: Any])?["endpoints"] != nil)
        }
    }
}
