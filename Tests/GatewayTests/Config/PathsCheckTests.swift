import Gateway
import Testing

/// The warning of `check` where a route could bypass another one.
@Suite struct PathsCheckTests {
    private func warnings(_ endpoints: String..., top: String = "") -> [String] {
        load([
            "c.yaml": """
            version: 1
            auth: { k: { api_key: { keys: partners.yaml } } }
            rate_limits: { slow: { rate: 1/m } }
            \(top)
            backends: { a: { url: "http://127.0.0.1:7001" } }
            endpoints:
            \(endpoints.map { "  - { \($0) }" }.joined(separator: "\n"))
            """
        ]).problems.lines.filter { $0.contains("could bypass") || $0.contains(": error: ") }
    }

    private static let wide = "route: ANY /api/*, auth: none, proxy: a, rate_limits: [slow]"
    private static let admin = "route: ANY /api/admin/*, auth: k, proxy: a"

    @Test func namesBothRoutes() {
        #expect(
            warnings(Self.wide, Self.admin) == [
                "c.yaml:7:14: warning: ANY /api/* could bypass ANY /api/admin/*, which has other"
                    + " 'auth', 'clients', limits or 'listener': a server may read //, %2F, ; or other"
                    + " spellings as that route, so such paths get 400; write 'paths: strict', or 'paths: lenient'"
                    + " to accept them"
            ])
    }

    @Test func countsMoreRoutes() {
        let found = warnings(
            Self.wide, Self.admin, "route: GET /api/keys, auth: k, proxy: a",
            "route: GET /other, auth: k, proxy: a")
        #expect(found.count == 1)
        #expect(found.first?.contains("could bypass ANY /api/admin/* and 1 more,") == true)
    }

    @Test(arguments: ["strict", "lenient"]) func aKeyNeedsNoWarning(_ paths: String) {
        #expect(warnings(Self.wide + ", paths: \(paths)", Self.admin) == [])
        #expect(warnings(Self.wide, Self.admin, top: "defaults: { paths: \(paths) }") == [])
    }

    @Test(arguments: [
        ("GET /{page}", "GET /admin"), ("GET /{page}", "GET /admin/users"),
        ("ANY /*", "GET /admin"),
        ("ANY /a/*", "ANY /A/b"), ("GET /{a}/{b}", "GET /x/{b}"), ("GET /{a}/x", "GET /b/{c}"),
        ("GET /{a}/x", "GET /{a}/y/x"), ("ANY /a/*", "ANY /a"), ("GET /a/*", "HEAD /a/b"),
        ("GET /{a}", "GET /a/"), ("GET /a/{b}", "GET /a"), ("GET /a/{b}/c/*", "GET /a/{b}/x/c/d"),
        // `/a/;/c`, `/a/b%3F/c`
        ("GET /a/{b}/c", "GET /a/c"), ("GET /a/{b}/c", "GET /a/{b}"), ("GET /x/{a}/y", "GET /x"),
        ("GET /a/{x}", "GET /{y}/b"), ("GET /x/{a}/y", "GET /x/z"), ("GET /{a}/x", "GET /{a}/y"),
    ])
    func findsOverlaps(_ wide: String, _ other: String) {
        #expect(
            warnings(
                "route: \"\(wide)\", auth: none, proxy: a", "route: \"\(other)\", auth: k, proxy: a"
            ).count == 1)
    }

    @Test(arguments: [
        ("GET /a", "GET /a/b"), ("GET /a/*", "GET /b/*"), ("GET /a/*", "POST /a/b"),
        ("ANY /a/b/*", "ANY /a/*"),
        ("GET /a/{x}", "GET /b/{x}"), ("GET /x/{a}/y", "GET /z"),
        ("GET /a/*", "GET /*"), ("GET /a/b/{x}", "GET /a/c/{x}"),
    ])
    func findsNoOtherOverlaps(_ wide: String, _ other: String) {
        #expect(
            warnings(
                "route: \"\(wide)\", auth: none, proxy: a", "route: \"\(other)\", auth: k, proxy: a"
            ) == [])
    }

    /// Equal rules count as equal wherever they are written.
    @Test func comparesRulesByTheirMeaning() {
        let rule =
            "auth: { any: [k], scopes: [a], require: [{ value: \"{request.header.X}\", is: \"%\" }] }"
        func warnings(_ one: String, _ other: String) -> Int {
            self.warnings(
                "route: ANY /api/*, proxy: a, " + rule.replacing("%", with: one),
                "route: ANY /api/b, proxy: a, " + rule.replacing("%", with: other)
            ).count
        }
        #expect(warnings("1", "1") == 0 && warnings("1", "2") == 1)
    }
}
