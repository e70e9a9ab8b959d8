import Basics
import HTTP
import JSONText
import SimReactor
import Testing

@testable import Gateway

/// Conditions over the head of a request, as `require` evaluates them: before the body is read and
/// before the parameters are validated.
@Suite struct RequirementTests {
    private static func endpoint(
        _ condition: String, params: String = ""
    ) throws -> EndpointPlan {
        let (config, problems) = load([
            "c.yaml": """
            version: 1
            backends: { a: { url: "http://a" } }
            endpoints:
              - route: POST /shops/{shop}
                params: { n: { type: integer }, lang: { default: en }, X-Level: { in: header, type: integer }\(params) }
                calls:
                  one: { from: a, get: /1 }
                  two: { from: a, get: /2, when: \(condition) }
            """
        ])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        return plan.endpoints[0]
    }

    private func holds(
        _ condition: String, _ target: String = "/shops/s-1?n=3", _ fields: Fields = Fields(),
        params: String = ""
    ) throws -> Bool {
        let endpoint = try Self.endpoint(condition, params: params)
        let loop = SimNetwork(seed: 1).makeLoop("loop")
        let context = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now, client: "192.0.2.1"))
        let condition = try #require(endpoint.calls[1].condition)
        return HeadConditions([condition], of: endpoint).hold(
            for: try head(target, fields), context)
    }

    static let tests: [(condition: String, holds: Bool)] = [
        (#"{ value: "{shop}", is: s-1 }"#, true), (#"{ value: "{shop}", is: s-2 }"#, false),
        (#"{ value: "{n}", is: 3 }"#, true), (#"{ value: "{n}", is: "3" }"#, false),
        (#"{ value: "{lang}", is: en }"#, true), ("{ param: lang }", false), ("{ param: n }", true),
        (#"{ value: "{request.client}", is: 192.0.2.1 }"#, true),
        (#"{ value: "{request.query.n}", is: "3" }"#, true),
        (#"{ value: "{request.header.X-Shop}", is: "{shop}" }"#, true),
        (#"{ value: "{request.header.X-Shop}", is: "{n}" }"#, false),
        (#"{ value: "{X-Level}", is: 7 }"#, true),
    ]

    @Test(arguments: tests) func valuesOfTheHeadAreTested(
        _ condition: String, _ isExpected: Bool
    ) throws {
        let fields: Fields = ["X-Shop": "s-1", "X-Level": "7"]
        #expect(try holds(condition, "/shops/s-1?n=3", fields) == isExpected)
    }

    /// A parameter that is not valid, or occurs twice, has no value yet, although the request gets
    /// its 400 later only.
    @Test(arguments: ["?n=x", "?n=3&n=3", "", "?n=%3"])
    func invalidParameterIsMissing(_ query: String) throws {
        #expect(try !holds(#"{ value: "{n}", is: 3 }"#, "/shops/s" + query))
        #expect(try !holds(#"{ value: "{n}", is_not: 4 }"#, "/shops/s" + query))
        #expect(try holds(#"{ value: "{n}", exists: false }"#, "/shops/s" + query))
        #expect(try holds(#"{ value: "{n}", is: 3 }"#, "/shops/s?n=3"), "the control")
    }

    /// Neither the body nor a response is known.
    @Test(arguments: ["request.body", "request.body.user", "one", "one.id"])
    func otherValuesAreMissing(_ reference: String) throws {
        #expect(try holds(#"{ value: "{\#(reference)}", exists: false }"#))
        #expect(try !holds(#"{ value: "{\#(reference)}", exists: true }"#))
    }

    /// All patterns of a request share one limit; a value beyond it counts as missing.
    @Test func parametersShareTheWorkLimit() throws {
        let pattern = #"{ pattern: "a{1000}b?|a+" }"#
        let params = ", p: \(pattern), q: \(pattern)"
        let value = String(repeating: "a", count: 5_000)
        func holds(_ names: [String], _ query: String) throws -> Bool {
            let tests = names.map { "{ value: \"{\($0)}\", exists: true }" }
            return try self.holds(
                "{ all: [\(tests.joined(separator: ", "))] }", "/shops/s?" + query, params: params)
        }
        #expect(try !holds(["p", "q"], "p=\(value)&q=\(value)"))
        #expect(try holds(["p", "q"], "p=\(value)&q=a"), "the control")
        #expect(try holds(["p", "p", "p"], "p=\(value)"), "each parameter is read once")
        #expect(try holds(["q"], "p=\(value)&q=\(value)"), "only those that are used")
    }

    @Test func planKnowsTheReferences() throws {
        let condition = try #require(
            try Self.endpoint(
                #"{ all: [{ value: "{one.id}", is: "{shop}-{n}" }, { not: { value: "{request.body.x}", one_of: ["{lang}", 3] } }] }"#
            ).calls[1].condition)
        #expect(
            condition.references.map(\.name) == ["one.id", "shop", "n", "request.body.x", "lang"])
        #expect(condition.calls == [0])
    }
}
