import Basics
import Foundation
import HTTP
import Testing

@testable import Gateway

@Suite struct ExplanationTests {
    private func explanation(
        _ method: String, _ url: String, _ fields: Fields = [:], of text: String = Example.text
    ) throws -> String {
        let (config, problems) = load(["c.yaml": text], environment: ["USERS_KEY": "k"])
        let plan = try Planner.plan(
            try #require(config, "\(problems.lines)"), processors: 1)
        return Explanation(
            plan, try #require(Method(method)), try #require(Target(url)), fields
        ).text
    }

    /// The example in the manual.
    @Test func showsExampleOfTheManual() throws {
        #expect(
            try explanation("GET", "/products/42?lang=de&debug=1") == """
                route     GET /products/{id}          c.yaml:29
                params    id=42 (integer)  lang=de    dropped: debug (not declared)
                forwards  headers: none
                deadline  800ms
                 0ms  product!  GET http://127.0.0.1:7001/v1/items/42?lang=de     up to 500ms
                 0ms  stock     GET http://127.0.0.1:7002/levels/42               up to 500ms  keep available, warehouse.city
                 0ms  reviews   GET http://127.0.0.1:7003/by-item/42              up to 300ms  second try at 120ms
                answer    {"product":...,"stock":...,"reviews":...}
                if        product fails        -> 502 / 504 / 503, relayed: 404 410
                          stock fails          -> 200 partial, "stock":null
                          reviews fails        -> 200 partial, "reviews":null
                worst     500ms to an answer; 4 backend requests at most, 8 with resends after lost connections

                """)
    }

    @Test func showsDependentCall() throws {
        #expect(
            try explanation("HEAD", "http://any.host/home") == """
                route     GET /home    c.yaml:52
                forwards  headers: Authorization
                deadline  800ms, one is enough
                 0ms  profile      GET http://127.0.0.1:7004/me                        up to 500ms  drop password_hash
                                   header  X-Api-Key: ${USERS_KEY}
                 0ms  offers       GET http://127.0.0.1:7005/today                     up to 500ms
                then  recommended  GET http://127.0.0.1:7005/for/{profile.segment}     up to 500ms  after profile
                answer    no body (HEAD)
                if        profile fails            -> 200 partial, "profile":null, "recommended":null
                          offers fails             -> 200 partial, "offers":[]
                          recommended fails        -> 200 partial, "recommended":null
                          all fail                 -> 502 / 504 / 503
                worst     800ms to an answer; 3 backend requests at most, 6 with resends after lost connections

                """)
    }

    @Test func showsPaddedEndpoint() throws {
        #expect(
            try explanation("POST", "/login") == """
                route     POST /login    c.yaml:69
                forwards  headers: none
                deadline  380ms, padded to 400ms
                 0ms  session!  POST http://127.0.0.1:7004/sessions     up to 380ms
                                header  X-Api-Key: ${USERS_KEY}
                                header  Content-Type: application/json
                                body    {request.body}
                answer    {...}
                if        session fails        -> 502 / 504 / 503, relayed: 401
                worst     400ms to an answer; 1 backend request at most

                """)
    }

    @Test func showsInvalidParameters() throws {
        #expect(
            try explanation("GET", "/products/0?lang=xx") == """
                route     GET /products/{id}                    c.yaml:29
                params    id invalid (integer)  lang invalid
                forwards  headers: none
                deadline  800ms
                refused   400: path id must be an integer of at least 1
                refused   400: query lang must be one of en, de

                """)
    }

    @Test(arguments: [
        ("GET", "/nowhere", "route     none: 404\n"),
        ("DELETE", "/products/1", "route     none for DELETE: 405, Allow: GET, HEAD\n"),
    ])
    func reportsMissingRoute(_ method: String, _ url: String, _ text: String) throws {
        #expect(try explanation(method, url) == text)
    }

    /// The exit status of the command.
    @Test(arguments: [
        ("GET", "/products/42", true), ("GET", "/products/0", false), ("GET", "/nowhere", false),
        ("DELETE", "/products/1", false), ("POST", "/login", true),
    ])
    func acceptsRequestsOfAnEndpoint(
        _ method: String, _ url: String, _ isAccepted: Bool
    ) throws {
        let (config, _) = load(["c.yaml": Example.text], environment: ["USERS_KEY": "k"])
        let plan = try Planner.plan(try #require(config), processors: 1)
        let explanation = Explanation(
            plan, try #require(Method(method)), try #require(Target(url)))
        #expect(explanation.isAccepted == isAccepted)
    }

    // MARK: One call

    private func line(
        of call: String, _ url: String = "/x", _ fields: Fields = [:], endpoint: String = ""
    ) throws -> String {
        let text = """
            version: 1
            backends: { a: { url: "http://h/base" } }
            endpoints:
              - route: GET /x
                params: { q: { }, H: { in: header } }
                \(endpoint)
                calls: { one: { from: a, \(call) }, two: { from: a, get: /two } }

            """
        let lines = try explanation("GET", url, fields, of: text).split(separator: "\n")
        return String(try #require(lines.first { $0.contains("  one  ") }))
    }

    @Test(arguments: [
        (#"get: "/{q}""#, "/x?q=a%2Fb", " 0ms  one  GET http://h/base/a%2Fb     up to 2s"),
        (#"get: "/{q}""#, "/x", "   -  one  skipped: q is not sent"),
        (
            #"get: /, when: { param: q }"#, "/x",
            "   -  one  left out: 'when' does not hold: parameter 'q' is sent"
        ),
        (
            #"get: /, retry: { attempts: 3 }, timeout: 9s"#, "/x",
            " 0ms  one  GET http://h/base/        up to 5s  3 attempts at most"
        ),
        (
            #"get: /, forward: { query: [p] }"#, "/x?p=1&p=2",
            " 0ms  one  GET http://h/base/?p=1&p=2     up to 2s  forwards headers: none  query: p"
        ),
        (
            #"post: /, body: "{request.body}""#, "/x",
            " 0ms  one  POST http://h/base/       up to 2s"
        ),
    ])
    func showsCall(_ call: String, _ url: String, _ expected: String) throws {
        #expect(try line(of: call, url) == expected)
    }

    @Test func usesHeadersOfTheRequest() throws {
        let line = try line(
            of: #"get: "/{H}/{request.header.Accept}""#, "/x", ["H": "v", "Accept": "*"])
        #expect(line == " 0ms  one  GET http://h/base/v/%2A     up to 2s")
    }

    // MARK: Headers and body

    /// The lines below the line of the call `one`.
    private func message(
        _ call: String, backend: String = "", _ method: String = "POST", _ url: String = "/x",
        _ fields: Fields = [:], body: String? = nil
    ) throws -> [String] {
        let text = """
            version: 1
            backends: { a: { url: "http://h" \(backend) } }
            endpoints:
              - route: \(method) /x
                params: { q: { }, n: { type: integer } }
                calls:
                  two: { from: a, get: /two }
                  one: { from: a, \(call) }

            """
        let (config, problems) = load(["c.yaml": text], environment: ["KEY": "secret"])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let lines = Explanation(
            plan, try #require(Method(method)), try #require(Target(url)), fields,
            body: body.map { Bytes($0) }
        ).text.split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.contains("  one  ") })
        return lines[(start + 1)...].prefix { $0.hasPrefix("           ") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func showsHeadersAndBodyOfCall() throws {
        #expect(
            try message(
                #"post: /, headers: { X-Q: "{q}", X-Two: "a{two.id}" }, body: { q: "{q}", n: "{n}" }"#,
                "POST", "/x?q=v&n=7")
                == [
                    "header  X-Q: v", "header  X-Two: a{two.id}",
                    "header  Content-Type: application/json", #"body    {"q":"v","n":7}"#,
                ])
        #expect(try message("get: /", "GET") == [])
    }

    @Test func showsReferenceForUnknownBody() throws {
        let call = #"post: /, body: "{request.body}""#
        #expect(
            try message(call) == [
                "header  Content-Type: application/json", "body    {request.body}",
            ])
        #expect(
            try message(call, body: #"{"a":1}"#)
                == ["header  Content-Type: application/json", #"body    {"a":1}"#])
        #expect(try message(#"post: /, body: "{request.body?}""#) == [])
    }

    @Test func showsHeadersByPrecedence() throws {
        let lines = try message(
            #"get: /, headers: { X-A: call }, forward: { headers: [X-A, X-B, X-C] }"#,
            backend: ", headers: { X-A: backend, X-B: backend }", "GET", "/x",
            ["X-A": "client", "X-B": "client", "X-C": "client"])
        #expect(lines == ["header  X-B: backend", "header  X-C: client", "header  X-A: call"])
    }

    @Test func hidesValuesOfVariables() throws {
        let lines = try message(
            #"post: /, headers: { X-Own: "k ${KEY}" }, body: { key: "${KEY}" }"#,
            backend: #", headers: { X-Key: "${KEY}" }"#)
        #expect(
            lines == [
                "header  X-Key: ${KEY}", "header  X-Own: k ${KEY}",
                "header  Content-Type: application/json",
                "body    not shown: it contains variables",
            ])
        #expect(!lines.joined().contains("secret"))
    }

    @Test func skipsCallIfHeaderValueIsMissing() throws {
        #expect(
            try line(of: #"get: /, headers: { X-Q: "{q}" }"#)
                == "   -  one  skipped: q is not sent")
    }
}
