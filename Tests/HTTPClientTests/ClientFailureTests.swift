import HTTP
import Reactor
import Testing

@testable import HTTPClient

@Suite struct ClientFailureTests {
    @Test(
        arguments: [
            (.lookup(.hostNotFound), "dnsError: host not found"),
            (.connect(.connectionRefused), "connectionRefused: connection refused"),
            (.connect(.timedOut), "connectionTimeout: timed out"),
            (.connect(.unreachable), "connectionRefused: host or network unreachable"),
            (
                .lost(.ended, responseHasBegun: false),
                "connectionTerminated: closed without a response"
            ),
            (
                .lost(.ended, responseHasBegun: true),
                "responseIncomplete: closed in the middle of the response"
            ),
            (
                .lost(.network(.connectionReset), responseHasBegun: true),
                "responseIncomplete: connection reset by peer"
            ),
            (
                ClientFailure(.responseBodySize, .limit(9), wasSent: true),
                "responseBodySize: response larger than 9 bytes"
            ),
            (
                ClientFailure(.protocolError, .wire(.contentLength), wasSent: true),
                "protocolError: malformed response: contentLength"
            ),
        ] as [(ClientFailure, String)])
    func describesTheFailure(failure: ClientFailure, text: String) {
        #expect(failure.description == text)
    }

    @Test(arguments: [
        (HTTP.Method.get, true, true), (.put, true, true), (.post, true, false),
        (.patch, true, false),
        (.post, false, true), (.get, false, true),
    ])
    func unsentAndIdempotentRequestsAreSafeToRetry(method: HTTP.Method, wasSent: Bool, isSafe: Bool)
    {
        let failure = ClientFailure(.connectionTerminated, .ended, wasSent: wasSent)
        #expect(failure.isSafeToRetry(method) == isSafe)
    }
}
