import Basics
import HTTP
import Testing

@testable import Gateway

/// Routes by host and listener.
@Suite struct SiteTests {
    private static let router = Router([
        Router.Entry(route("GET /x"), 0),
        Router.Entry(route("GET /x"), 1, hosts: ["shop.example.com", "2001:DB8:0::1"]),
        Router.Entry(route("GET /x"), 2, hosts: ["*.example.com"]),
        Router.Entry(route("GET /{id}"), 3, hosts: ["shop.example.com", "*.example.com"]),
        Router.Entry(route("POST /x"), 4, hosts: ["*.example.com"]),
        Router.Entry(route("PUT /x"), 5),
        Router.Entry(route("GET /x"), 6, listener: "internal"),
        Router.Entry(route("GET /y"), 7, hosts: ["shop.example.com"], listener: "internal"),
    ])

    private func match(
        _ method: String, _ path: String, _ host: String?, on listener: String? = nil
    ) -> Router.Match {
        Self.router.match(
            method == "GET" ? .get : method == "POST" ? .post : .put, Bytes(path),
            at: RequestPlace(authority: host.map { Bytes($0) }, listener: listener))
    }

    @Test(arguments: [
        (nil, 0), ("other.test", 0), ("example.com", 0), ("a.shop.example.com", 0), ("", 0),
        (".example.com", 0), ("shop.example.com", 1), ("SHOP.Example.com:8080", 1),
        ("shop.example.com.", 1), ("[2001:db8::1]", 1), ("[2001:DB8:0:0::1]:443", 1),
        ("[2001:db8::2]", 0), ("[", 0), ("nl.example.com", 2), ("NL.EXAMPLE.COM.:1", 2),
    ])
    func exactNameGoesBeforeTheWildcardAndThisBeforeNoHost(_ host: String?, _ endpoint: Int) {
        #expect(match("GET", "/x", host) == .endpoint(endpoint))
    }

    @Test func routeOfTheHostGoesFirstEvenIfItIsLessExact() {
        #expect(match("GET", "/z", "shop.example.com") == .endpoint(3))
        #expect(match("GET", "/z", nil) == .notFound)
    }

    @Test func methodCanBelongToAnotherHost() {
        #expect(match("POST", "/x", "shop.example.com") == .endpoint(4))
        #expect(match("PUT", "/x", "shop.example.com") == .endpoint(5))
        #expect(
            match("POST", "/x", nil) == .methodNotAllowed(allow: "GET, HEAD, PUT"))
    }

    @Test func listenerGoesBeforeNone() {
        #expect(match("GET", "/x", nil, on: "internal") == .endpoint(6))
        #expect(match("GET", "/x", nil, on: "public") == .endpoint(0))
        #expect(match("PUT", "/x", nil, on: "internal") == .endpoint(5))
        #expect(match("GET", "/y", "shop.example.com", on: "internal") == .endpoint(7))
        #expect(match("GET", "/y", "shop.example.com", on: "public") == .notFound)
        #expect(match("GET", "/x", "shop.example.com", on: "internal") == .endpoint(1))
    }

    /// A less exact route must not serve what is restricted to another listener.
    @Test func routeOfAnotherListenerIsNotFound() {
        let router = Router([
            Router.Entry(route("GET /admin/{id}"), 0, listener: "internal"),
            Router.Entry(route("GET /{a}/{b}"), 1),
            Router.Entry(route("PUT /admin/{id}"), 2),
            Router.Entry(route("GET /only"), 3, listener: "internal"),
        ])
        func match(_ method: Method, _ path: String, on listener: String?) -> Router.Match {
            router.match(method, Bytes(path), at: RequestPlace(listener: listener))
        }
        #expect(match(.get, "/admin/1", on: "public") == .notFound)
        #expect(match(.get, "/admin/1", on: nil) == .notFound)
        #expect(match(.get, "/admin/1", on: "internal") == .endpoint(0))
        #expect(match(.get, "/other/1", on: "public") == .endpoint(1))
        #expect(match(.put, "/admin/1", on: "public") == .endpoint(2))
        #expect(match(.put, "/only", on: "public") == .notFound)
        #expect(match(.put, "/only", on: "internal") == .methodNotAllowed(allow: "GET, HEAD"))
    }

    @Test func literalBracesAreNoParameter() {
        #expect(route("GET /%7B%7D").shape != route("GET /{id}").shape)
        #expect(route("GET /%2A").shape != route("GET /a").shape)
        #expect(route("GET /{id}").shape == route("GET /{name}").shape)
        #expect(route("GET /a%2Fb").shape != route("GET /a/b").shape)
    }

    @Test func thousandHostsAreFound() {
        let names = (0..<1000).map { "h\($0 * 7919 % 1000).example.com" }
        let table = HostTable(names.enumerated().map { ($1, $0) })
        for (index, name) in names.enumerated() {
            #expect(table.values(of: Bytes(name.uppercased())).exact == index)
        }
        #expect(table.values(of: Bytes("h1000.example.com")).exact == nil)
    }

    @Test(arguments: [
        ("a.test", "a.test", true), ("*.test", "a.test", true), ("a.test", "*.test", true),
        ("*.test", "*.test", true), ("*.test", "a.b.test", false), ("*.a.test", "*.test", false),
        ("*.test", "test", false), ("a.test", "b.test", false),
    ])
    func overlaps(_ host: String, _ other: String, _ result: Bool) {
        #expect(HostSyntax.overlap(host, other) == result)
    }
}
