import Basics
import Foundation
import HTTP
import HTTPClient
import Promises
import SimReactor
import Testing

@testable import Gateway

/// `explain` refuses exactly the requests that the gateway refuses, for the same reasons.
@Suite struct ExplainedRefusalTests {
    private static let config = #"""
        version: 1
        backends: { a: { url: "http://127.0.0.1:7001" } }
        endpoints:
          - route: GET /items/{id}
            params:
              id: { type: integer, min: 1 }
              lang: { one_of: [en, de], default: en }
              q: { pattern: "[a-z]+", max_length: 3 }
              X-Id: { in: header, type: uuid }
            calls: { one: { from: a, get: "/{id}?q={q?}" } }
          - route: GET /files
            params: { name: { required: true }, more: { } }
            calls:
              one: { from: a, get: "/files/{name}" }
              two: { from: a, get: "/more/{more}", when: { param: more } }
          - route: GET /folders
            calls: { one: { from: a, get: "/folders/{request.query.name}" } }
          - route: POST /orders
            max_body: 64B
            body:
              type: object
              required: [user]
              properties: { user: { type: string, min_length: 1 }, count: { type: integer } }
            params: { p: { type: boolean } }
            calls: { one: { from: a, post: /orders, body: "{request.body}" } }
          - route: POST /notes
            max_body: 8B
            calls: { one: { from: a, post: /notes } }
          - route: POST /photos
            content_types: [image/*, text/plain]
            calls: { one: { from: a, post: /photos } }
          - route: PUT /photos
            content_types: [image/*, text/plain]
            proxy: a

        """#

    private struct Case: CustomTestStringConvertible {
        let method: String
        let url: String
        let fields: Fields
        let body: String
        /// The beginning of the lines of `explain` after `refused`.
        let reasons: [String]

        init(
            _ method: String, _ url: String, _ fields: Fields = [:], body: String = "",
            refused reasons: String...
        ) {
            self.method = method
            self.url = url
            self.fields = fields
            self.body = body
            self.reasons = reasons
        }

        var testDescription: String { "\(method) \(url) \(body)" }
    }

    private static let cases: [Case] = [
        // The positive control: valid requests.
        Case("GET", "/items/7"), Case("HEAD", "/items/7?lang=de&q=abc&other=%zz"),
        Case("GET", "/items/7", ["X-Id": "00112233-4455-6677-8899-aabbccddeeff"]),
        Case("GET", "/files?name=a.b"), Case("GET", "/files?name=..a"),
        Case("GET", "/folders?name=a"), Case("POST", "/orders", body: #"{"user":"ann"}"#),
        Case("POST", "/orders?p=true", body: #"{"user":"ann","count":3}"#),
        Case("POST", "/notes"), Case("POST", "/notes", body: "12345678"),
        // Routes.
        Case("GET", "/", refused: "404"), Case("GET", "/items", refused: "404"),
        Case("GET", "/items/7/8", refused: "404"),
        Case("POST", "/items/7", refused: "405, Allow: GET, HEAD"),
        Case("GET", "/notes", refused: "405, Allow: POST"),
        // Parameters.
        Case("GET", "/items/x", refused: "400: path id must be an integer of at least 1"),
        Case("GET", "/items/%2e", refused: "400: path id must not be . or .."),
        Case(
            "GET", "/items/7?q=%2",
            refused: "400: query q must have two hexadecimal digits after each %"),
        Case("GET", "/items/7?lang=xx", refused: "400: query lang must be one of en, de"),
        Case("GET", "/items/7?lang=en&lang=de", refused: "400: query lang must be given once"),
        Case(
            "GET", "/items/0?q=ABCD", ["X-Id": "7"],
            refused: "400: path id must be an integer of at least 1",
            "400: query q must have at most 3 characters", "400: header X-Id must be a UUID"),
        Case("GET", "/files", refused: "400: query name is required"),
        // Segments that would change the path of a call.
        Case(
            "GET", "/files?name=",
            refused:
                "400: query name must not leave an empty, . or .. segment, a backslash or a zero byte in a path"
        ),
        Case(
            "GET", "/files?name=..",
            refused:
                "400: query name must not leave an empty, . or .. segment, a backslash or a zero byte in a path"
        ),
        Case(
            "GET", "/files?name=.&more=%2e%2e",
            refused:
                "400: query name must not leave an empty, . or .. segment, a backslash or a zero byte in a path",
            "400: query more must not leave an empty, . or .. segment, a backslash or a zero byte in a path"
        ),
        Case(
            "GET", "/folders?name=..",
            refused:
                "400: query name must not leave an empty, . or .. segment, a backslash or a zero byte in a path"
        ),
        // Bodies.
        Case("POST", "/orders", refused: "400: body is required"),
        Case("POST", "/orders", body: "{", refused: "400: body must be JSON"),
        Case("POST", "/orders", body: "[]", refused: "400: body must be an object"),
        Case("POST", "/orders", body: "{}", refused: "400: body user is required"),
        Case(
            "POST", "/orders?p=x", body: #"{"user":"","count":"a"}"#,
            refused: "400: query p must be true or false",
            "400: body user must have at least 1 character",
            "400: body count must be an integer"),
        Case(
            "POST", "/orders?p=x", body: #"{"user":"\#(String(repeating: "a", count: 64))"}"#,
            refused: "413: body is larger than max_body"),
        Case("POST", "/notes", body: "123456789", refused: "413: body is larger than max_body"),
        // Media types.
        Case("POST", "/photos"), Case("POST", "/photos", ["Content-Type": "text/html"]),
        Case("POST", "/photos", ["Content-Type": "Image/jpeg"], body: "x"),
        Case("PUT", "/photos", ["Content-Type": "text/plain; charset=utf-8"], body: "x"),
        Case("POST", "/photos", ["Content-Type": "text/html"], body: "x", refused: wrongType),
        Case("PUT", "/photos", ["Content-Type": "text/html"], body: "x", refused: wrongType),
    ]

    private static let wrongType = "415: content_types has only image/*, text/plain"

    @Test(arguments: cases) private func explainsRefusalsOfTheGateway(_ request: Case) throws {
        let (config, problems) = load(["c.yaml": Self.config])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let head = RequestHead(
            method: try #require(Method(request.method)), target: try #require(Target(request.url)),
            fields: request.fields)
        let served = try Self.served(head, Bytes(request.body), by: plan)
        let explanation = Explanation(
            plan, head.method, head.target, head.fields, body: Bytes(request.body))
        #expect(served == request.reasons)
        #expect(Self.refusals(in: explanation.text) == served)
        #expect(explanation.isAccepted == served.isEmpty)
    }

    // MARK: Skipped calls

    private static let skipping = #"""
        version: 1
        backends: { a: { url: "http://127.0.0.1:7001" } }
        endpoints:
          - route: GET /required
            calls:
              one: { from: a, get: "/?q={request.query.q}", required: true }
              two: { from: a, get: /two }
          - route: GET /chain
            calls:
              one: { from: a, get: "/?q={request.query.q}" }
              two: { from: a, get: "/{one.id}", required: true }
              three: { from: a, get: "/?u={request.query.u}", required: true }
          - route: GET /after
            calls:
              zero: { from: a, get: /zero }
              one: { from: a, get: "/?q={request.query.q}" }
              two: { from: a, get: /two, after: [zero, one], required: true }
          - route: GET /all
            calls:
              one: { from: a, get: "/?q={request.query.q}" }
              two: { from: a, get: "/{one.id}" }
          - route: GET /disabled
            calls:
              one: { from: a, get: "/?q={request.query.q}" }
              two: { from: a, get: /, when: { value: "{one.id}", is: 1 } }
          - route: GET /partial
            calls:
              one: { from: a, get: "/?q={request.query.q}" }
              two: { from: a, get: /, when: { value: "{one.id}", exists: false } }
          - route: GET /items/{id}
            calls:
              one: { from: a, get: /one, headers: { X-Id: "{id}" }, required: true }
          - route: GET /text
            calls:
              one: { from: a, post: /one, body: { q: "{request.query.q}" }, required: true }
          - route: GET /segment
            params: { q: {} }
            calls:
              zero: { from: a, get: /zero, when: { value: "{request.query.none}", exists: true } }
              one:
                from: a
                get: "/one/{q}"
                required: true
                when: { value: "{zero}", exists: false }
          - route: POST /body
            calls:
              one: { from: a, post: /one, body: "{request.body}", required: true }
          - route: POST /member
            calls:
              one: { from: a, post: "/one/{request.body.a}", required: true }
          - route: GET /list
            calls:
              one:
                each: { in: "{request.query.id[]}", as: id, max: 2 }
                from: a
                get: "/one/{id}"
                required: true
          - route: POST /list
            calls:
              one:
                each: { in: "{request.body.list[]}", as: e, max: 3, enough: 2 }
                from: a
                get: "/one/{e.n}"
                required: true
          - route: POST /beside
            calls:
              list: { each: { in: "{request.body.list[]}", as: e, max: 3 }, from: a, get: "/{e.n}" }
              news: { from: a, get: /news }
              other: { from: a, get: /other }
          - route: POST /first
            calls:
              list: { each: { in: "{request.body.list[]}", as: e, max: 3 }, from: a, get: "/{e.n}" }
              first: { from: a, get: "/first/{list[0].id}", required: true }
          - route: POST /batch
            calls:
              one:
                each:
                  { in: "{request.body.list[]}", as: e, max: 9, batch: 2, match: { n: "{e.n}" } }
                from: a
                get: "/one?n={e.n,}"

        """#

    /// The backend is missing, so that the gateway responds with 502 to a request that can succeed.
    @Test(
        arguments: [
            ("GET /required?q=1", "", nil), ("GET /required", "", 400),
            ("GET /required?q=1&q=2", "", 400), ("GET /required?q=%zz", "", 400),
            ("GET /chain", "", 400), ("GET /chain?u=1", "", 502),
            ("GET /chain?q=1&u=1", "", nil), ("GET /after", "", 502), ("GET /all", "", 502),
            ("GET /disabled", "", 400), ("GET /partial", "", nil),
            ("GET /items/7", "", nil), ("GET /items/%0a", "", 400),
            ("GET /text?q=a", "", nil), ("GET /text?q=%ff", "", 400),
            ("GET /segment?q=a", "", nil), ("GET /segment?q=..", "", 400),
            ("POST /body", "a", nil), ("POST /body", "", 400),
            ("POST /member", #"{"a":1}"#, nil), ("POST /member", #"{"a":{}}"#, 400),
            ("POST /member", "{}", 400), ("POST /member", "a", 400),
            ("GET /list?id=1&id=2", "", nil), ("GET /list?id=1&id=2&id=3", "", 400),
            ("GET /list?id=1&id=..", "", 400),
            ("POST /list", #"{"list":[{"n":1},{},{"n":1}]}"#, nil),
            ("POST /list", #"{"list":[{"n":1},{},{}]}"#, 400), ("POST /list", "{}", 400),
            ("POST /list", #"{"list":{}}"#, 400),
            ("POST /batch", #"{"list":[{"n":1},{}]}"#, nil),
            ("POST /batch", #"{"list":[{}]}"#, 400),
            ("POST /first", #"{"list":[]}"#, 502), ("POST /first", #"{"list":[{"n":1}]}"#, nil),
        ] as [(String, String, Int?)])
    func explainsFailuresOfSkippedCalls(
        _ request: String, _ body: String, _ status: Int?
    ) throws {
        let words = request.split(separator: " ").map(String.init)
        let (config, problems) = load(["c.yaml": Self.skipping])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let head = RequestHead(
            method: try #require(Method(words[0])), target: try #require(Target(words[1])),
            fields: Fields())
        let response = try Self.response(to: head, Bytes(body), by: plan)
        let explanation = Explanation(
            plan, head.method, head.target, head.fields, body: Bytes(body))
        let refusals = Self.refusals(in: explanation.text).map { String($0.prefix(3)) }
        #expect(Int(response.status.code) == status ?? 502)
        #expect(refusals == (status.map { ["\($0)"] } ?? []), "\(explanation.text)")
        #expect(explanation.isAccepted == (status == nil))
    }

    /// The first request of a list of the client, and how many there are.
    @Test(
        arguments: [
            (
                "/list", #"{"list":[{"n":1},{"n":2},{"n":1}]}"#, "/one/1",
                "first of 2 requests for 3 elements", 2
            ),
            (
                "/list", #"{"list":[{},{"n":"é"},{"n":"é"}]}"#, "/one/%C3%A9",
                "1 request for 3 elements, 1 skipped", 1
            ),
            (
                "/batch", #"{"list":[{"n":1},{"n":2},{"n":1},{"n":3}]}"#, "/one?n=1,2",
                "first of 2 requests for 4 elements", 2
            ),
        ])
    func explainsListsOfTheClient(
        _ path: String, _ body: String, _ target: String, _ note: String, _ requests: Int
    ) throws {
        let (config, problems) = load(["c.yaml": Self.skipping])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let text = Explanation(plan, .post, try #require(Target(path)), body: Bytes(body)).text
        #expect(text.contains("GET http://127.0.0.1:7001\(target) "), "\(text)")
        #expect(text.contains("  \(note)\n"), "\(text)")
        #expect(text.contains("; \(requests) backend request"), "\(text)")
    }

    /// What elements without a request, and lists without elements, mean for the response.
    @Test(
        arguments: [
            ("/beside", #"{"list":[]}"#, #"news fails         -> 200 partial, "news":null"#),
            ("/beside", #"{"list":[{"n":1},{}]}"#, #""other":...}, partial"#),
            ("/list", #"{"list":{}}"#, "skipped: request.body.list must be a list"),
            ("/list", "{}", "skipped: request.body.list is not sent"),
            ("/list", #"{"list":[{}]}"#, "e.n of an element is missing or cannot be sent"),
        ])
    func explainsResponsesWithLists(_ path: String, _ body: String, _ line: String) throws {
        let (config, _) = load(["c.yaml": Self.skipping])
        let plan = try Planner.plan(try #require(config), processors: 1)
        let text = Explanation(plan, .post, try #require(Target(path)), body: Bytes(body)).text
        #expect(text.contains(line), "\(text)")
        if body == #"{"list":[]}"# { #expect(!text.contains("all fail")) }
    }

    /// A list without elements needs no request, and is a success.
    @Test func explainsEmptyListsOfTheClient() throws {
        let (config, _) = load(["c.yaml": Self.skipping])
        let plan = try Planner.plan(try #require(config), processors: 1)
        let (target, body) = (try #require(Target("/list")), Bytes(#"{"list":[]}"#))
        let head = RequestHead(method: .post, target: target, fields: Fields())
        let explanation = Explanation(plan, .post, target, body: body)
        #expect(explanation.text.contains("not sent: request.body.list has no elements"))
        #expect(explanation.text.contains(#"answer    {"one":...}"#))
        #expect(explanation.isAccepted)
        #expect(try Self.response(to: head, body, by: plan).completeBody == Bytes(#"{"one":[]}"#))
    }

    /// A value of the request adds no lines to the output.
    @Test func escapesControlCharacters() throws {
        let (config, _) = load(["c.yaml": Self.skipping])
        let plan = try Planner.plan(try #require(config), processors: 1)
        let target = try #require(Target("/items/%0Aroute%1b%5B2J%7f"))
        let text = Explanation(plan, .get, target).text
        #expect(text.contains(#"params    id=\nroute\u{1B}[2J\u{7F}"#), "\(text)")
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("route") }.count == 1)
    }

    // MARK: What is not stated

    /// Without a body, `explain` assumes a valid one.
    @Test func assumesMissingBodyIsValid() throws {
        let (config, _) = load(["c.yaml": Self.config])
        let plan = try Planner.plan(try #require(config), processors: 1)
        let target = try #require(Target("/orders"))
        #expect(Explanation(plan, .post, target).isAccepted)
        #expect(!Explanation(plan, .post, target, body: Bytes()).isAccepted)
        let (skipping, _) = load(["c.yaml": Self.skipping])
        let other = try Planner.plan(try #require(skipping), processors: 1)
        #expect(Explanation(other, .post, try #require(Target("/body"))).isAccepted)
        #expect(Explanation(other, .post, try #require(Target("/member"))).isAccepted)
    }

    /// Without a `Content-Type`, a body counts as one of the first type that is accepted.
    @Test func assumesMissingTypeIsAccepted() throws {
        let (config, _) = load(["c.yaml": Self.config])
        let plan = try Planner.plan(try #require(config), processors: 1)
        let target = try #require(Target("/photos"))
        let explanation = Explanation(plan, .post, target, body: Bytes("x"))
        #expect(explanation.isAccepted)
        #expect(explanation.head.fields[.contentType] == "image/png")
        #expect(!Explanation(plan, .post, target, ["Content-Type": "text/html"]).isAccepted)
    }

    private static func response(
        to head: RequestHead, _ body: Bytes, by plan: Plan
    ) throws -> Response {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("gateway")
        let pools = ConnectionPools(loop: loop)
        let gateway = GatewayService(
            plan, endpointNumbers: Array(plan.endpoints.indices), pools: pools, loop: loop,
            targets: SentTargets())
        let context = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now, client: "127.0.0.1"))
        let request = Request(head: head, body: .bytes(body))
        var answer: Response?
        loop.timer(after: .zero) {
            gateway.handleRequest(request, context).whenSettled { answer = try? $0.get() }
        }
        network.run(until: { answer != nil }, eventsMax: 10_000)
        return try #require(answer)
    }

    /// The reasons why the gateway refuses a request; none for a 502 because the backend is
    /// missing.
    private static func served(_ head: RequestHead, _ body: Bytes, by plan: Plan) throws -> [String]
    {
        let response = try Self.response(to: head, body, by: plan)
        let code = response.status.code
        switch code {
        case 400:
            let problem = try JSONSerialization.jsonObject(with: Data(response.completeBody.array))
            let errors = (problem as? [String: Any])?["errors"] as? [[String: String]]
            return try #require(errors).map { error in
                let words = ["in", "name", "reason"].compactMap { error[$0] }
                return "400: " + words.filter { !$0.isEmpty }.joined(separator: " ")
            }
        case 404: return ["404"]
        case 405: return ["405, Allow: \(try #require(response.fields[.allow]))"]
        case 413: return ["413: body is larger than max_body"]
        case 415:
            return ["415: content_types has only \(try #require(response.fields[.accept]))"]
        default:
            #expect(code == 502)
            return []
        }
    }

    private static func refusals(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            if line.hasPrefix("refused   ") { return String(line.dropFirst(10)) }
            guard line.hasPrefix("route     none"), let colon = line.firstIndex(of: ":") else {
                return nil
            }
            return String(line[colon...].dropFirst(2))
        }
    }
}
