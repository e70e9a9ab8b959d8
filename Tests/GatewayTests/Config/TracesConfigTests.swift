import Basics
import HTTP
import HTTPClient
import Reactor
import Testing

@testable import Gateway

/// The block `traces`: its values, its checks, and its plan.
@Suite struct TracesConfigTests {
    private static let url = "otlp: http://127.0.0.1:4318/v1/traces"

    private func plan(_ traces: String) throws -> Plan {
        let (config, problems) = load(["c.yaml": Snippet.top(traces)])
        return try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
    }

    @Test func withoutTheBlockNothingIsSampled() throws {
        let plan = try plan("workers: 1")
        #expect(plan.traces == nil && plan.server.sampledShare == 0)
    }

    @Test func defaultsAreOnePercentAndOneSecond() throws {
        let plan = try plan("traces: { \(Self.url) }")
        let traces = try #require(plan.traces)
        #expect(plan.server.sampledShare == 10_000 && traces.share == 10_000)
        #expect(traces.slow == .seconds(1) && traces.service == "tributary")
        #expect(traces.collector.origin.description == "127.0.0.1:4318")
        #expect("\(traces.collector.target)" == "/v1/traces")
        #expect(traces.collector.fields.isEmpty && traces.collector.security == nil)
    }

    @Test func everyValueIsInThePlan() throws {
        let plan = try plan(
            "traces: { \(Self.url), sample: 0.5%, slow: 20ms, service: shop, headers: { X-T: a } }")
        let traces = try #require(plan.traces)
        #expect(plan.server.sampledShare == 5_000)
        #expect(traces.slow == .milliseconds(20) && traces.service == "shop")
        #expect(traces.collector.fields["X-T"] == "a")
    }

    @Test(arguments: ["0%", "100%"]) func theShareMayBeNoneOrAll(_ share: String) throws {
        let plan = try plan("traces: { \(Self.url), sample: \(share) }")
        #expect(plan.server.sampledShare == (share == "0%" ? 0 : 1_000_000))
    }

    @Test(arguments: [
        ("sample: 1%", "1:9: error: the key 'otlp' is missing in 'traces'"),
        ("otlp: ftp://c", "1:17: error: 'otlp' in 'traces' has the scheme 'ftp'"),
        ("\(url), sample: 101%", "1:58: error: 'sample' in 'traces' must be at most 100%"),
        ("\(url), sample: 0.1", "1:58: error: 'sample' in 'traces' has no unit"),
        ("\(url), slow: 0s", "1:56: error: 'slow' in 'traces' must be more than 0"),
        ("\(url), service: \"\"", "1:59: error: 'service' in 'traces' must not be empty"),
        ("\(url), headers: { Host: a }", "must not be 'Host'"),
        ("\(url), headers: { content-type: a }", "must not have 'content-type'"),
        ("\(url), headers: { A: a, a: b }", "'headers' has 'a' twice"),
        ("\(url), tls: { verify: false }", "'tls' of 'traces' needs a host with https://"),
        ("otlp: https://c/v1/traces, tls: { verify: false }", "warning: 'verify: false' disables"),
        ("otlp: http://c", "warning: 'otlp' of 'traces' has no path"),
        ("\(url), headers: { A: a }", "warning: 'headers' of 'traces' are sent without encryption"),
    ])
    func mistakesAreReported(_ lines: String, _ problem: String) {
        let found = problems(Snippet.top("traces: { \(lines) }"))
        #expect(found.contains { $0.contains(problem) }, "\(found)")
    }

    // MARK: Variables of OpenTelemetry

    private func plan(
        _ traces: String, _ environment: [String: String]
    ) throws -> (plan: Plan, problems: [String]) {
        let (config, problems) = load(["c.yaml": Snippet.top(traces)], environment: environment)
        return (
            try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1),
            problems.lines
        )
    }

    private static let variables = [
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318/base/", "OTEL_SERVICE_NAME": "shop",
        "OTEL_EXPORTER_OTLP_HEADERS": "X-A=a%20b, X-B=c",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": "0.25",
        "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,deployment.environment.name=prod",
    ]

    @Test func variablesConfigureTheExport() throws {
        let (plan, problems) = try plan("workers: 1", Self.variables)
        let traces = try #require(plan.traces)
        #expect(traces.collector.origin.description == "c:4318")
        #expect("\(traces.collector.target)" == "/base/v1/traces")
        #expect(traces.service == "shop" && plan.server.sampledShare == 250_000)
        #expect(traces.resource.map(\.key) == ["deployment.environment.name"])
        #expect(traces.resource.map(\.value) == ["prod"])
        #expect(traces.collector.fields["X-A"] == "a b" && traces.collector.fields["X-B"] == "c")
        #expect(traces.collector.encoding == .json)
        #expect(traces.collector.timeout == .milliseconds(2_500))
        #expect(problems.first?.contains("are sent without encryption") == true)
    }

    @Test func theFileTakesPrecedence() throws {
        let (plan, _) = try plan(
            "traces: { \(Self.url), sample: 2%, service: own, protocol: http/protobuf,"
                + " resource: { deployment.environment.name: test }, headers: { X-C: c } }",
            Self.variables)
        let traces = try #require(plan.traces)
        #expect(traces.collector.origin.description == "127.0.0.1:4318")
        #expect(traces.service == "own" && traces.share == 20_000)
        #expect(traces.resource.map(\.value) == ["test"])
        #expect(traces.collector.encoding == .protobuf && traces.collector.fields["X-A"] == nil)
    }

    @Test func variablesForTracesTakePrecedence() throws {
        let (plan, _) = try plan(
            "workers: 1",
            [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b:2/exact",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=other", "OTEL_SERVICE_NAME": "",
            ])
        #expect(plan.traces?.collector.origin.description == "b:2")
        #expect((plan.traces?.collector.target).map { "\($0)" } == "/exact")
        #expect(plan.traces?.service == "other" && plan.traces?.collector.encoding == .protobuf)
    }

    @Test func theSDKCanBeDisabled() throws {
        let (plan, _) = try plan("traces: { \(Self.url) }", ["OTEL_SDK_DISABLED": "True"])
        #expect(plan.traces == nil && plan.server.sampledShare == 0)
    }

    /// Without the block, variables that are meant for other programs neither export nor refuse the start.
    @Test(arguments: [
        ["OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"],
        [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        ],
        ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"],
        ["OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317", "OTEL_SDK_DISABLED": "true"],
    ])
    func variablesOfOthersKeepTheExportOff(_ variables: [String: String]) throws {
        let (plan, problems) = try plan("workers: 1", variables)
        #expect(plan.traces == nil && plan.server.sampledShare == 0)
        #expect(!problems.contains { $0.contains("error") })
    }

    @Test func aDisabledBlockNeedsNoCollector() throws {
        let (plan, problems) = try plan("traces: { sample: 5% }", ["OTEL_SDK_DISABLED": "true"])
        #expect(plan.traces == nil && problems == [])
    }

    /// Names of attributes are case-sensitive; of two equal ones in a variable the last counts.
    @Test func attributesMayDifferInCase() throws {
        let (plan, _) = try plan(
            "traces: { \(Self.url), resource: { Team: x } }",
            ["OTEL_RESOURCE_ATTRIBUTES": "team=a,team=b,Team=c"])
        let resource = try #require(plan.traces).resource
        #expect(resource.map(\.key) == ["Team", "team"] && resource.map(\.value) == ["x", "b"])
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "warning: only http/protobuf and http/json"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "x", "warning: the timeout must be 1 to 600000"),
        ("OTEL_TRACES_SAMPLER", "always_on", "warning: the sampler must be parentbased_always_on"),
        ("OTEL_RESOURCE_ATTRIBUTES", "a", "warning: an entry is not key=value"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318", "warning: the endpoint has no scheme"),
    ])
    func invalidVariablesAreReported(_ name: String, _ value: String, _ problem: String) {
        let traces = name.hasSuffix("ENDPOINT") ? "workers: 1" : "traces: { \(Self.url) }"
        let found = load(["c.yaml": Snippet.top(traces)], environment: [name: value]).problems.lines
        #expect(found.contains { $0.hasPrefix("\(name):1:1: \(problem)") }, "\(found)")
    }

    @Test func aCorrectBlockHasNoProblem() {
        #expect(problems(Snippet.top("traces: { \(Self.url), sample: 5%, slow: 1s }")) == [])
    }

    /// Credentials come from variables, and are in no text.
    @Test func headersMayBeSecret() throws {
        let text = Snippet.top(
            "traces: { \(Self.url), headers: { Authorization: \"Bearer ${TOKEN}\" } }")
        let (config, problems) = load(["c.yaml": text], environment: ["TOKEN": "s3cr3t"])
        let plan = try Planner.plan(try #require(config), processors: 1)
        #expect(plan.traces?.collector.fields["Authorization"] == "Bearer s3cr3t")
        #expect(problems.errorCount == 0 && !problems.lines.joined().contains("s3cr3t"))
    }
}
