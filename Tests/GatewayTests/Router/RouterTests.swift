import Basics
import HTTP
import Testing

@testable import Gateway

/// `GET /products/{id}` as a route; a segment in braces is a parameter.
func route(_ text: String) -> Config.Route {
    let parts = text.split(separator: " ").map(String.init)
    let segments = parts[1].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    return Config.Route(
        method: Config.Method(rawValue: parts[0]) ?? .get, path: parts[1],
        segments: segments.map { segment in
            segment.hasPrefix("{")
                ? .parameter(String(segment.dropFirst().dropLast()))
                : .literal(Bytes(segment).percentDecoded().map { String($0) } ?? "")
        })
}

extension Router {
    init(_ entries: [(Config.Route, Int)]) {
        self.init(entries.map { Entry($0.0, $0.1) })
    }
}

@Suite struct RouterTests {
    static let router = Router(
        [
            "GET /products/{id}",
            "GET /products/new",
            "POST /products",
            "GET /products/{id}/parts/{part}",
            "POST /products/new/parts",
            "DELETE /products/new",
            "GET /",
            "GET /caf%C3%A9/a%2Fb",
            "PUT /twice",
            "HEAD /twice",
            "GET /twice",
            "GET /files/",
            "OPTIONS /told",
        ].enumerated().map { (route($1), $0) })

    func match(_ method: Method, _ path: String) -> Router.Match {
        Self.router.match(method, Bytes(path))
    }

    @Test(arguments: [
        ("/products/42", 0),
        ("/products/new", 1),
        ("/products/%6Eew", 1),
        ("/products/newer", 0),
        ("/products/ne", 0),
        ("/products/..", 0),
        ("/products/a%2Fb", 0),
        ("/products/42/parts/7", 3),
        ("/", 6),
        ("/caf%C3%A9/a%2Fb", 7),
        ("/caf%c3%a9/%61%2fb", 7),
        ("/files/", 11),
    ])
    func findsTheEndpoint(_ path: String, _ endpoint: Int) {
        #expect(match(.get, path) == .endpoint(endpoint))
    }

    @Test(arguments: [
        "/nope", "/products/42/more", "/products/42/", "/products//parts/7", "//products",
        "/files", "/products/42/parts/", "/cafe/a%2Fb", "/café/a/b", "*", "",
        "/products/new/parts/7/8", "/Products/42",
    ])
    func isNotFound(_ path: String) {
        #expect(match(.get, path) == .notFound)
    }

    @Test func parameterMatchesWhereALiteralLeadsNowhere() {
        #expect(match(.get, "/products/new/parts/7") == .endpoint(3))
    }

    @Test func parameterMatchesWhereTheLiteralLacksTheMethod() {
        let router = Router([(route("POST /a/b"), 0), (route("GET /a/{x}"), 1)])
        #expect(router.match(.get, Bytes("/a/b")) == .endpoint(1))
        #expect(router.match(.post, Bytes("/a/b")) == .endpoint(0))
    }

    @Test func headGoesToGet() {
        #expect(match(.head, "/products/42") == .endpoint(0))
        #expect(match(.head, "/twice") == .endpoint(9))
    }

    @Test(arguments: [
        (Method.delete, "/products/42", "GET, HEAD"),
        (.get, "/products", "POST"),
        (.post, "/twice", "PUT, HEAD, GET"),
        (.options, "/products", "POST"),
        (.head, "/told", "OPTIONS"),
    ])
    func refusesTheMethod(_ method: Method, _ path: String, _ allow: String) throws {
        let value = try #require(FieldValue(allow))
        #expect(match(method, path) == .methodNotAllowed(allow: value))
    }

    @Test func everyPathThatMatchesIsAllowedInFileOrder() throws {
        #expect(match(.put, "/products/new") == .methodNotAllowed(allow: "GET, HEAD, DELETE"))
        let router = Router([(route("GET /a/{x}"), 0), (route("POST /a/b"), 1)])
        #expect(router.match(.put, Bytes("/a/b")) == .methodNotAllowed(allow: "GET, HEAD, POST"))
    }

    @Test func aThousandSiblingsAreAllFound() {
        let router = Router((0..<1000).map { (route("GET /a/\($0 * 7919 % 1000)/x"), $0) })
        for index in 0..<1000 {
            #expect(
                router.match(.get, Bytes("/a/\(index * 7919 % 1000)/x")) == .endpoint(index))
        }
        #expect(router.match(.get, Bytes("/a/1000/x")) == .notFound)
    }

    // MARK: Suffixes

    static let suffixes = Router(
        [
            "GET /reports/{id}", "GET /reports/{id}.json", "GET /reports/{id}.gz",
            "GET /reports/{id}.tar.gz", "GET /reports/all.json", "POST /reports/{id}.csv",
            "GET /{kind}.json/x",
        ].enumerated().compactMap { index, text in
            (try? Config.Route(parsing: text)).map { ($0, index) }
        })

    /// A literal goes first, then the longest suffix, then a parameter.
    @Test(arguments: [
        ("a", 0), ("a.json", 1), ("a%2Ejson", 1), ("a.jso%6e", 1), ("%61.json", 1), ("a.gz", 2),
        ("a.tar.gz", 3), (".tar.gz", 2), ("all.json", 4), ("all%2ejson", 4), (".json", 0),
        ("a.JSON", 0), ("a.json.", 0), ("a.jsonx", 0), ("..json", 1), ("a.csv", 0), ("a%.json", 0),
    ])
    func suffixPrecedesAParameter(_ segment: String, _ endpoint: Int) {
        #expect(Self.suffixes.match(.get, Bytes("/reports/\(segment)")) == .endpoint(endpoint))
    }

    @Test func suffixBelongsToTheLastSegment() throws {
        #expect(Self.suffixes.match(.get, Bytes("/reports/a.json/")) == .notFound)
        #expect(Self.suffixes.match(.get, Bytes("/a.json/x")) == .notFound)
        #expect(throws: Refusal.self) { try Config.Route(parsing: "GET /{kind}.json/x") }
    }

    @Test func suffixHasMethodsOfItsOwn() throws {
        #expect(Self.suffixes.match(.post, Bytes("/reports/a.csv")) == .endpoint(5))
        guard
            case .methodNotAllowed(let allow) = Self.suffixes.match(.post, Bytes("/reports/a.json"))
        else { Issue.record("another result"); return }
        #expect(allow == "GET, HEAD")
    }
}
