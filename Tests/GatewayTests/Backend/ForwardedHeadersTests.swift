import HTTP
import Testing

@testable import Gateway

/// Which headers of the client's request a call forwards in addition to the configured ones.
@Suite struct ForwardedHeadersTests {
    private func headers(_ call: String, ofBackend: [FieldName] = []) throws -> ForwardedHeaders {
        let loaded = load(["c.yaml": Snippet.call(call)])
        let plan = try Planner.plan(#require(loaded.config), processors: 1)
        var fields = Fields()
        for name in ofBackend { fields.append(name, "fixed") }
        return ForwardedHeaders(plan.endpoints[0].calls[0], backendFields: fields)
    }

    private static let listed = "forward: { headers: [X-User, X-Forwarded-For] }"

    @Test func unconfiguredHeadersAreForwarded() throws {
        let listed = try headers(Self.listed)
        #expect(listed.ofClients == ["X-User"] && listed.ofProxies == ["X-Forwarded-For"])
        #expect(listed.generated == [])
        #expect(
            try headers("forwarded: both").generated.map(\.name)
                == ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"])
    }

    @Test func headersOfTheCallReplaceTheClients() throws {
        let headers = try headers(
            Self.listed + "\nheaders: { x-user: a, x-forwarded-for: b }")
        #expect(headers.ofClients == [] && headers.ofProxies == [])
    }

    @Test func headersOfTheBackendReplaceTheClients() throws {
        let headers = try headers(Self.listed, ofBackend: ["x-user", "x-forwarded-for"])
        #expect(headers.ofClients == [] && headers.ofProxies == [])
    }

    @Test func generatedHeadersAreNotSentBesideConfiguredOnes() throws {
        let headers = try headers(
            "forwarded: both", ofBackend: ["x-forwarded-for", "forwarded", "X-Other"])
        #expect(headers.generated.map(\.name) == ["X-Forwarded-Proto", "X-Forwarded-Host"])
    }
}
