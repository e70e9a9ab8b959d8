import Foundation
import Reactor
import Testing

@testable import UVReactor

@Suite struct FailureTests {
    @Test(arguments: [
        (ECONNREFUSED, IOFailure.connectionRefused), (ECONNRESET, .connectionReset),
        (EPIPE, .brokenPipe), (ETIMEDOUT, .timedOut), (EHOSTUNREACH, .unreachable),
        (ENETUNREACH, .unreachable), (EADDRINUSE, .addressInUse),
        (EADDRNOTAVAIL, .addressInvalid), (EACCES, .permissionDenied),
        (EMFILE, .outOfDescriptors), (ENFILE, .outOfDescriptors), (ENOMEM, .outOfMemory),
        (ECANCELED, .cancelled), (EXDEV, .other(-EXDEV)),
    ])
    func mapsSystemErrors(_ number: CInt, _ failure: IOFailure) {
        #expect(IOFailure(uv: -number) == failure)
    }

    /// libuv's own numbers for the name service: EAI_NONAME, EAI_AGAIN.
    @Test(arguments: [(-3008, IOFailure.hostNotFound), (-3001, .nameServiceFailed)])
    func mapsNameServiceErrors(_ code: Int, _ failure: IOFailure) {
        #expect(IOFailure(uv: code) == failure)
    }
}
