import Basics
import HTTP
import Testing

@Suite struct MethodTests {
    @Test(arguments: [
        ("GET", true, true), ("HEAD", true, true), ("OPTIONS", true, true), ("TRACE", true, true),
        ("PUT", false, true), ("DELETE", false, true), ("POST", false, false),
        ("PATCH", false, false),
        ("CONNECT", false, false), ("BREW", false, false),
    ])
    func knowsSafeAndIdempotentMethods(_ name: String, _ isSafe: Bool, _ isIdempotent: Bool) throws
    {
        let method = try #require(Method(name))
        #expect(method.isSafe == isSafe)
        #expect(method.isIdempotent == isIdempotent)
        #expect(method.description == name)
    }

    @Test(arguments: ["", "G T", "GET\r\n", "é"])
    func rejectsMethodsThatAreNoTokens(_ name: String) {
        #expect(Method(name) == nil)
    }

    @Test(arguments: [0, 99, 600, 999, -200])
    func rejectsStatusesOutOfRange(_ code: Int) {
        #expect(Status(code) == nil)
    }

    @Test func everyWireErrorHasAnErrorStatusWithAReason() {
        for error in WireError.allCases {
            #expect((400...599).contains(error.status.code))
            #expect(error.status.reason.utf8CodeUnitCount > 0)
        }
    }

    @Test func bodyBufferStoresUpToItsLimit() {
        var buffer = BodyBuffer(.length(5), limit: 5)
        #expect(!buffer.isTooLargeFromTheStart)
        let fits = buffer.append(Bytes("hello").span)
        let isOneMore = buffer.append(Bytes("!").span)
        #expect(fits && !isOneMore)
        #expect(buffer.take() == Bytes("hello"))
        #expect(BodyBuffer(.length(6), limit: 5).isTooLargeFromTheStart)
    }
}
