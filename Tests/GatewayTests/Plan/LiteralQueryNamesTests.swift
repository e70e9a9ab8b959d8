import Basics
import Testing

@testable import Gateway

/// The names of a call's own query parameters, which `forward: { query: all }` does not forward.
@Suite struct LiteralQueryNamesTests {
    @Test(arguments: [
        ("/one", []), ("/one?", []), ("/one?a=1&b&c=", ["a", "b", "c"]),
        ("/one?r%6Fle=x&a+b=1", ["role", "a b"]), ("/one?a={id}&b=x{id}y&c=1", ["a", "b", "c"]),
        ("/one/{id}?a=1", ["a"]), ("/one?a?=1&=2&&b==3", ["a?", "b"]),
        ("/one?{id}=1&x{id}=2&{id}x=3&b=1", ["b"]),
    ])
    func findsNamesWithoutReferences(_ target: String, _ names: [String]) throws {
        let config = Snippet.call("timeout: 1s").replacing(
            "get: \"/one/{id}\"", with: "get: \"\(target)\"")
        let loaded = load(["c.yaml": config])
        let plan = try Planner.plan(#require(loaded.config), processors: 1)
        let call = plan.endpoints[0].calls[0]
        #expect(call.target.literalQueryNames.map { String($0) } == names)
    }
}
