import Basics
import Foundation
import Testing
import YAMLReader

@testable import Gateway

/// The example of the manual: its values, and the errors that the manual shows.
@Suite struct ExampleTests {
    let key = ["USERS_KEY": "k"]

    @Test func loadsWithoutProblems() throws {
        let outcome = load(["c.yaml": Example.text], environment: key)
        #expect(outcome.problems.lines == [])
        let config = try #require(outcome.config)
        #expect(config.endpoints.count == 3)
        #expect(config.endpoints.flatMap(\.calls).count == 7)
        #expect(
            config.backends.map(\.name.value) == ["catalog", "stock", "reviews", "users", "offers"])
    }

    @Test func decodesAllValues() throws {
        let config = try #require(load(["c.yaml": Example.text], environment: key).config)
        #expect(config.listen.first?.address?.value == .tcp(host: "127.0.0.1", port: 8080))
        #expect(config.defaults?.deadline?.value == .milliseconds(800))
        #expect(config.defaults?.maxBody?.value == 1 << 20)
        #expect(config.workers == nil)

        let stock = config.backends[1]
        #expect(stock.hosts.map(\.value.port) == [7002, 7012])
        #expect(stock.breaker?.openAt?.value == 0.5)
        #expect(
            config.backends[3].headers[0].value
                == Located(
                    "k", at: .init(file: "c.yaml", line: 23, column: 27), written: "${USERS_KEY}"))

        let products = config.endpoints[0]
        #expect(products.route?.value.segments == [.literal("products"), .parameter("id")])
        #expect(products.params[1].oneOf.map(\.value) == ["en", "de"])
        #expect(products.calls[0].relayStatus?.value == [404...404, 410...410])
        #expect(products.calls[1].keep?.value.map(\.value) == ["available", "warehouse.city"])
        #expect(products.calls[2].hedge?.after?.value == .milliseconds(120))

        let home = config.endpoints[1]
        #expect(home.calls[1].ifFailed?.value == .value(.init("[]")))
        #expect(home.callGraph.waitsFor == [[], [], [0]])
        #expect(config.endpoints[2].calls[0].at?.value == .root)
    }

    @Test func reportsAllErrorsAtOnce() {
        let broken = Example.text
            .replacingOccurrences(of: "        timeout: 300ms", with: "        time_out: 300ms")
            .replacingOccurrences(of: "{profile.segment}", with: "{profil.segment}")
            .replacingOccurrences(of: "    deadline: 380ms\n", with: "    # no deadline here\n")
        #expect(
            load(["t.yaml": broken], main: "t.yaml").problems.lines == [
                "t.yaml:23:27: error: environment variable USERS_KEY is not set"
                    + " (write ${USERS_KEY:-...} to give a default)",
                "t.yaml:46:9: error: unknown key 'time_out' in call 'reviews'"
                    + " - did you mean 'timeout'?",
                "t.yaml:66:20: error: call 'recommended' uses {profil.segment}; there is no call"
                    + " 'profil' (calls here: profile, offers, recommended)",
                "t.yaml:69:5: warning: POST /login: 'deadline' (800ms) permits responses slower than"
                    + " 'min_duration' (400ms), which are distinguishable; lower it below 'min_duration'",
                "3 errors, 1 warning",
            ])
    }

    @Test(arguments: [
        ("        timeout: 300ms", "        get: /x", "46:9: error: duplicate key 'get'"),
        ("        timeout: 300ms", "        timeout: 300", "46:18: error: 'timeout' in call"),
        ("  deadline: 800ms", "  deadline: 0ms", "7:13: error: 'deadline' in 'defaults' must be"),
        ("        required: true   ", "        required: maybe  ", "37:19: error: 'required' in"),
        (
            "from: offers\n        get: /today", "from: offerz\n        get: /today",
            "61:15: error: call"
        ),
        ("admin: 127", "admim: 127", "4:1: error: unknown key 'admim' - did you mean 'admin'?"),
        ("      stock:\n        from", "      _stock:\n        from", "39:7: error: bad name"),
        ("{id}?lang={lang}", "{idd}?lang={lang}", "36:25: error: call 'product' uses {idd}"),
        (
            "    min_duration: 400ms", "    server_timing: true\n    min_duration: 400ms",
            "72:20: error: 'server_timing'"
        ),
    ])
    func reportsOneProblemPerError(_ old: String, new: String, problem: String) {
        let broken = Example.text.replacingOccurrences(of: old, with: new)
        let found = problems(broken, environment: key)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(problem) == true, "\(found)")
    }

    @Test func reportsManyErrors() {
        let text = """
            version: 2
            listen: localhost
            workers: 0
            backends:
              a: { url: ftp://h }
              b: { urls: [], max_concurrent: 0 }
            endpoints:
              - route: get /x
                report: of
                calls:
                  one: { form: a, get: one, timeout: 5 }
                  two: { from: c, get: "/{three.x}", post: / }
            """
        #expect(
            problems(text) == [
                "1:10: error: 'version' must be 1",
                #"2:9: error: 'listen' must be host:port, "[v6]:port" or unix:/path"#,
                "3:10: error: 'workers' must be auto, or a whole number from 1 to 1024",
                "5:13: error: 'url' in backend 'a' has the scheme 'ftp', which is not supported;"
                    + " backends are called with http:// or https://",
                "6:14: error: 'urls' in backend 'b' must not be empty",
                "6:34: error: 'max_concurrent' in backend 'b' must be a whole number from 1 to 1000000",
                "8:12: error: 'route' in endpoint 'get /x' has the unknown method 'get'; the"
                    + " methods are GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS and ANY - did you mean 'GET'?",
                "9:13: error: 'report' in endpoint 'get /x' must be body, header or off"
                    + " - did you mean 'off'?",
                "11:14: error: unknown key 'form' in call 'one' - did you mean 'from'?",
                "11:28: error: 'get' in call 'one' must begin with a '/'; the host comes from the"
                    + " backend",
                "11:42: error: 'timeout' in call 'one' has no unit; write it like 300ms, 2s, 5m or 1h",
                "12:20: error: call 'two': there is no backend 'c' (there are a, b)",
                "12:31: error: call 'two' uses {three.x}; there is no call 'three'"
                    + " (calls here: one, two)",
                "12:42: error: 'post' and 'get' exclude each other in call 'two'",
            ])
    }
}
