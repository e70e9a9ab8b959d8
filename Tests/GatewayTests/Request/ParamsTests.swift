import Basics
import HTTP
import Testing

@testable import Gateway
@testable import Patterns

@Suite struct ParamsTests {
    /// The parameters of the annotated example.
    func products() throws -> [ParamPlan] {
        try ParamPlan.all(
            of: [
                param("id", .integer) { $0.min = number("1") },
                param("lang", .string) {
                    $0.oneOf = [located("en"), located("de")]
                    $0.fallback = located("en")
                },
            ], route: route("GET /products/{id}"))
    }

    /// A parameter of every kind.
    func everyKind() throws -> [ParamPlan] {
        try ParamPlan.all(
            of: [
                param("id", .uuid),
                param("n", .number) {
                    $0.min = number("0.5")
                    $0.max = number("10")
                },
                param("flag", .boolean),
                param("code", .string) {
                    $0.pattern = located("[A-Z]{3}")
                    $0.required = located(true)
                },
                param("word", .string) {
                    $0.minLength = located(2)
                    $0.maxLength = located(4)
                },
                param("X-Client", .string) {
                    $0.sentIn = located(.header)
                    $0.oneOf = [located("web"), located("app")]
                },
            ], route: route("GET /x/params/{id}"))
    }

    static let uuid = "123e4567-e89b-12d3-A456-426614174000"

    func texts(_ plans: [ParamPlan], _ head: RequestHead) throws -> [String?] {
        let params = try Params(plans, of: head)
        return plans.indices.map { index in params[index].map { String($0) } }
    }

    @Test func readsPathAndQuery() throws {
        let plans = try products()
        #expect(try texts(plans, head("/products/42?x=1&lang=de&debug")) == ["42", "de"])
    }

    @Test func defaultReplacesAMissingValue() throws {
        let plans = try products()
        let params = try Params(plans, of: head("/products/42"))
        #expect(params[1] == Bytes("en"))
        #expect(params.wasSent(0) && !params.wasSent(1))
    }

    @Test func readsEveryKind() throws {
        let head = try head(
            "/x/params/\(Self.uuid)?n=0.5&flag=true&code=ABC&word=abcd", ["x-client": "web"])
        #expect(
            try texts(everyKind(), head) == [Self.uuid, "0.5", "true", "ABC", "abcd", "web"])
    }

    @Test func optionalParametersCanBeAbsent() throws {
        let plans = try everyKind()
        let params = try Params(plans, of: head("/x/params/\(Self.uuid)?code=ABC"))
        #expect(
            plans.indices.map { params[$0] != nil } == [true, false, false, true, false, false])
        #expect(params[6] == nil && params[-1] == nil && !params.wasSent(99))
    }

    @Test(arguments: [
        ("/products/0", "path id must be an integer of at least 1"),
        ("/products/-1", "path id must be an integer of at least 1"),
        ("/products/4.2", "path id must be an integer of at least 1"),
        ("/products/1e3", "path id must be an integer of at least 1"),
        ("/products/%2042", "path id must be an integer of at least 1"),
        ("/products/+42", "path id must be an integer of at least 1"),
        ("/products/007", "path id must be an integer of at least 1"),
        ("/products/42x", "path id must be an integer of at least 1"),
        ("/products/99999999999999999999999x", "path id must be an integer of at least 1"),
        ("/products/%D9%A1", "path id must be an integer of at least 1"),
        ("/products/..", "path id must not be . or .."),
        ("/products/%2E", "path id must not be . or .."),
        ("/products/42?lang=xx", "query lang must be one of en, de"),
        ("/products/42?lang=", "query lang must be one of en, de"),
        ("/products/42?lang", "query lang must be one of en, de"),
        ("/products/42?lang=en&lang=en", "query lang must be given once"),
        ("/products/42?lang=en&%6Cang=en", "query lang must be given once"),
        ("/products/42?lang=%e", "query lang must have two hexadecimal digits after each %"),
    ])
    func refuses(_ target: String, _ reason: String) throws {
        let plans = try products()
        let head = try head(target)
        #expect(refusals { _ = try Params(plans, of: head) } == [reason])
    }

    @Test func integersCanExceedTheMachineWord() throws {
        let long = String(repeating: "9", count: 4000)
        #expect(try texts(products(), head("/products/\(long)"))[0] == long)
    }

    @Test func everyErrorIsListedInFileOrder() throws {
        let plans = try everyKind()
        let head = try head(
            "/x/params/not-a-uuid?word=abcde&flag=yes&n=x&code=abc", ["X-Client": "tv"])
        #expect(
            refusals { _ = try Params(plans, of: head) } == [
                "path id must be a UUID",
                "query n must be a number from 0.5 to 10",
                "query flag must be true or false",
                "query code must match [A-Z]{3}",
                "query word must have 2 to 4 characters",
                "header X-Client must be one of web, app",
            ])
    }

    @Test(arguments: [
        ("", "query code is required"),
        ("?code=ABC&n=11", "query n must be a number from 0.5 to 10"),
        ("?code=ABC&n=0.4", "query n must be a number from 0.5 to 10"),
        ("?code=ABC&n=", "query n must be a number from 0.5 to 10"),
        ("?code=ABC&word=%C3%A9", "query word must have 2 to 4 characters"),
        ("?code=ABC&word=%C3%28", "query word must be UTF-8"),
        ("?code=ABCD", "query code must match [A-Z]{3}"),
        ("?code=ABC&flag=True", "query flag must be true or false"),
    ])
    func refusesOneOfMany(_ query: String, _ reason: String) throws {
        let plans = try everyKind()
        let head = try head("/x/params/\(Self.uuid)\(query)")
        #expect(refusals { _ = try Params(plans, of: head) } == [reason])
    }

    @Test func repeatedHeaderIsRefused() throws {
        let plans = try everyKind()
        let head = try head(
            "/x/params/\(Self.uuid)?code=ABC", ["X-Client": "web", "x-client": "web"])
        #expect(
            refusals { _ = try Params(plans, of: head) } == ["header X-Client must be given once"])
    }

    @Test(arguments: [
        ("a%2Fb", "a/b"), ("a%252Fb", "a%2Fb"), ("a+b", "a+b"), ("caf%C3%A9", "café"),
        ("...", "..."), ("%61", "a"),
    ])
    func aSegmentIsDecodedOnce(_ segment: String, _ value: String) throws {
        let plans = try ParamPlan.all(of: [], route: route("GET /x/enc/{name}"))
        #expect(try texts(plans, head("/x/enc/\(segment)")) == [value])
    }

    @Test(arguments: [("a+b", "a b"), ("a%2Bb", "a+b"), ("%26=", "&="), ("", "")])
    func aQueryValueIsDecodedOnce(_ sent: String, _ value: String) throws {
        let plans = try ParamPlan.all(of: [param("a b")], route: route("GET /x"))
        #expect(try texts(plans, head("/x?a+b=\(sent)")) == [value])
        #expect(try texts(plans, head("/x?%61%20b=\(sent)")) == [value])
    }

    @Test func pathParametersThatAreNotDeclaredAreStrings() throws {
        let plans = try ParamPlan.all(
            of: [param("b", .integer), param("q")], route: route("GET /{a}/x/{b}/{c}"))
        #expect(plans.map(\.name) == ["a", "c", "b", "q"])
        #expect(try texts(plans, head("/1/x/2/3?q=4")) == ["1", "3", "2", "4"])
        let bad = try head("/../x/y/%FF")
        #expect(
            refusals { _ = try Params(plans, of: bad) } == [
                "path a must not be . or ..", "path c must be UTF-8", "path b must be an integer",
            ])
    }

    @Test func choicesOfNumbersAreComparedAsNumbers() throws {
        let plans = try ParamPlan.all(
            of: [param("n", .number) { $0.oneOf = [located("1"), located("2.50")] }],
            route: route("GET /x"))
        #expect(try texts(plans, head("/x?n=2.5")) == ["2.5"])
        let bad = try head("/x?n=3")
        #expect(refusals { _ = try Params(plans, of: bad) } == ["query n must be one of 1, 2.50"])
    }

    @Test func acceptsYAMLSpellingsOfBounds() throws {
        let plans = try ParamPlan.all(
            of: [
                param("n", .number) {
                    $0.max = located(Config.Number(text: "0x10", value: 16, integer: 16))
                    $0.min = located(Config.Number(text: ".5", value: 0.5, integer: nil))
                }
            ], route: route("GET /x"))
        #expect(try texts(plans, head("/x?n=16")) == ["16"])
        let bad = try [head("/x?n=17"), head("/x?n=0.4")]
        for head in bad {
            #expect(
                refusals { _ = try Params(plans, of: head) }
                    == ["query n must be a number from .5 to 0x10"])
        }
    }

    @Test func configurationErrorsAreReported() {
        let root = route("GET /x")
        let pattern = param("a") { $0.pattern = located("(") }
        #expect(
            throws: ParamPlan.CompileError.pattern(PatternError(offset: 0, reason: .unclosedGroup))
        ) {
            try ParamPlan(pattern, route: root)
        }
        #expect(throws: ParamPlan.CompileError.notInRoute) {
            try ParamPlan(param("a") { $0.sentIn = located(.path) }, route: root)
        }
        #expect(throws: ParamPlan.CompileError.headerName) {
            try ParamPlan(param("a b") { $0.sentIn = located(.header) }, route: root)
        }
    }
}
