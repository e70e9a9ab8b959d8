import Basics
import Gateway
import HTTP
import Promises
import Testing

@Suite struct FilterTests {
    private let context = ManualContext()

    private func exchange() -> RequestContext {
        let entropy = Entropy(seed: 1)
        return RequestContext(
            ExchangeStart(
                id: RequestID(from: entropy), trace: TraceContext(from: entropy),
                local: LocalContext(on: context),
                began: Instant(nanoseconds: 0)))
    }

    /// Appends its name to requests and responses.
    private func named(_ name: String) -> Filter<String, String> {
        Filter { next in
            Service { request, exchange in
                next(request + name, exchange).map { $0 + name.uppercased() }
            }
        }
    }

    private func response(of filters: [Filter<String, String>]) -> String? {
        var response: String?
        let chain = filters.around(
            Service { request, exchange in exchange.local.value(request + "|") })
        chain("", exchange()).whenSettled { response = try? $0.get() }
        context.drain()
        return response
    }

    @Test func requestsPassFromFirstToLastAndResponsesBack() {
        #expect(response(of: [named("a"), named("b"), named("c")]) == "abc|CBA")
    }

    @Test func chainWithoutFiltersIsTheService() {
        #expect(response(of: []) == "|")
    }
}
