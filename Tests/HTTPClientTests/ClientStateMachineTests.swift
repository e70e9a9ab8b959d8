import Basics
import HTTP
import Reactor
import Testing

@testable import HTTPClient

/// The interpretation of a backend's bytes, without a connection.
@Suite struct ClientStateMachineTests {
    // MARK: Responses

    @Test(arguments: ResponseFixture.valid, Cut.allCases)
    func readsTheResponseHoweverItIsCut(_ response: ResponseFixture, _ cut: Cut) {
        for pieces in cut.pieces(of: response.text) {
            var harness = ClientMachineHarness(response.method)
            harness.receive(pieces)
            #expect(harness.outcome == response.outcome)
        }
    }

    @Test func reportsHeadPiecesAndEndOneAfterTheOther() {
        let chunks = "2\r\nab\r\n1\r\nc\r\n0\r\nX-T: 1\r\n\r\n"
        let bytes = Bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        var machine = ClientStateMachine(limits: WireLimits(Limits()))
        machine.beginRequest(.get)
        var position = 0
        var events: [String] = []
        while position < bytes.count || events.last?.hasPrefix("end") == false {
            switch machine.receive(bytes.span, from: &position, sendProgress: .all) {
            case .interim(let head): events.append("interim \(head.status)")
            case .head(let head): events.append("head \(head.status) \(head.framing)")
            case .body(let range): events.append("body \(String(bytes[range]))")
            case .trailers(let range): events.append("trailers \(range.count)")
            case .end(let isReusable): events.append("end, stays: \(isReusable)")
            case .nothing, .fail, .retire: events.append("end: something else")
            }
        }
        #expect(
            events == ["head 200 chunked", "body ab", "body c", "trailers 8", "end, stays: true"])
    }

    @Test func closedMachineIgnoresFurtherBytes() {
        let bytes = Bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        for isClosed in [false, true] {
            var machine = ClientStateMachine(limits: WireLimits(Limits()))
            machine.beginRequest(.get)
            if isClosed { machine.close() }
            var position = 0
            let action = machine.receive(bytes.span, from: &position, sendProgress: .all)
            if case .nothing = action { #expect(isClosed) } else { #expect(!isClosed) }
        }
    }

    @Test(arguments: ResponseFixture.malformed, Cut.allCases)
    func rejectsTheMalformedResponseHoweverItIsCut(_ response: ResponseFixture, _ cut: Cut) {
        for pieces in cut.pieces(of: response.text) {
            var harness = ClientMachineHarness(response.method)
            harness.receive(pieces)
            #expect(harness.outcome == "protocolError")
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n0",
    ])
    func bytesBehindTheResponseRetireTheConnection(_ text: String) {
        for pieces in Cut.once.pieces(of: text) {
            var harness = ClientMachineHarness()
            harness.receive(pieces)
            #expect(
                ["200 hi close", "200 hi keep, retire"].contains(harness.outcome),
                "together with the response, or after it")
        }
    }

    @Test func responseToAPartlySentRequestEndsTheConnection() {
        var harness = ClientMachineHarness(.post)
        harness.sendProgress = .some
        harness.receive(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"])
        #expect(harness.outcome == "200 hi close")
    }

    @Test(arguments: ["H", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "\0"])
    func bytesReceivedBeforeTheRequestWasSentAreNoResponse(_ text: String) {
        for (isReused, outcome) in [
            (true, "protocolError, unsent, may resend"), (false, "protocolError, unsent"),
        ] {
            var harness = ClientMachineHarness(isReused: isReused)
            harness.sendProgress = .none
            harness.receive([text])
            #expect(harness.outcome == outcome)
        }
    }

    /// The backend has received nothing of it, so even a POST may be resent.
    @Test(arguments: ClientMachineHarness.endings)
    func lossBeforeTheRequestWasSentAllowsAResend(
        _ end: @Sendable (inout ClientMachineHarness) -> Void
    ) {
        var harness = ClientMachineHarness(.post, isReused: true)
        harness.sendProgress = .none
        end(&harness)
        #expect(harness.outcome == "connectionTerminated, unsent, may resend")
    }

    @Test func connectionServesOneRequestAfterTheOther() {
        var harness = ClientMachineHarness(.head)
        harness.receive(["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"])
        harness.beginRequest(.get)
        harness.receive(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"])
        harness.beginRequest(.get)
        harness.receive(["HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"])
        #expect(harness.outcome == "200  keep, 200 hi keep, 404  keep")
    }

    // MARK: Limits

    @Test(arguments: [
        ("Content-Length: 10\r\n\r\n", "0123456789"),
        ("Transfer-Encoding: chunked\r\n\r\n", "4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"),
        ("\r\n", "0123456789"),
    ])
    func acceptsABodyUpToTheLimit(fields: String, body: String) {
        let text = "HTTP/1.1 200 OK\r\n\(fields)\(body)"
        for pieces in Cut.once.pieces(of: text) {
            var fits = ClientMachineHarness(responseBytesMax: 10)
            fits.receive(pieces)
            fits.end()
            #expect(fits.outcome.hasPrefix("200 0123456789"))
            var tight = ClientMachineHarness(responseBytesMax: 9)
            tight.receive(pieces)
            #expect(tight.outcome == "responseBodySize")
        }
    }

    @Test func failsAtOnceWhenTheStatedLengthExceedsTheLimit() {
        var harness = ClientMachineHarness(responseBytesMax: 9)
        harness.receive(["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"])
        #expect(harness.outcome == "responseBodySize")
    }

    @Test func limitsTheNumberOfInterimResponses() {
        var limits = Limits()
        limits.interimResponses = 3
        let interim = "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
        var patient = ClientMachineHarness(limits: limits)
        patient.receive([interim, interim, interim, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        #expect(patient.outcome == "200  keep")
        var flooded = ClientMachineHarness(limits: limits)
        flooded.receive([interim, interim, interim, interim])
        #expect(flooded.outcome == "protocolError")
    }

    // MARK: Endings

    @Test func truncatedResponseIsIncompleteWhereverItIsCut() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfull"
        for length in 1..<text.utf8.count {
            for ending in ClientMachineHarness.endings {
                var harness = ClientMachineHarness(isReused: true)
                harness.receive([String(text.prefix(characters: length))])
                ending(&harness)
                #expect(harness.outcome == "responseIncomplete", "after \(length) bytes")
            }
        }
    }

    @Test func lossBeforeTheFirstByteTerminatesTheCall() {
        for ending in ClientMachineHarness.endings {
            var harness = ClientMachineHarness()
            ending(&harness)
            #expect(harness.outcome == "connectionTerminated")
        }
    }

    @Test func lossOfAReusedConnectionBeforeTheFirstByteAllowsAResend() {
        for ending in ClientMachineHarness.endings {
            var harness = ClientMachineHarness(isReused: true)
            ending(&harness)
            #expect(harness.outcome == "connectionTerminated, may resend")
        }
    }

    @Test func lossAfterAnInterimResponseIsIncomplete() {
        for ending in ClientMachineHarness.endings {
            var harness = ClientMachineHarness(isReused: true)
            harness.receive(["HTTP/1.1 100 Continue\r\n\r\n"])
            ending(&harness)
            #expect(harness.outcome == "responseIncomplete")
        }
    }

    @Test func bodyUntilCloseIsCompletedByAnEndAndNotByAReset() {
        var ended = ClientMachineHarness()
        ended.receive(["HTTP/1.1 200 OK\r\n\r\nhi"])
        ended.end()
        #expect(ended.outcome == "200 hi close")
        var reset = ClientMachineHarness()
        reset.receive(["HTTP/1.1 200 OK\r\n\r\nhi"])
        reset.reset()
        #expect(reset.outcome == "responseIncomplete")
    }

    // MARK: Idle

    @Test func anyEventWhileIdleRetiresTheConnection() {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        for event in ClientMachineHarness.endings + [
            { $0.receive([response]) }, { $0.receive(["\n"]) },
        ] {
            var harness = ClientMachineHarness()
            harness.receive([response])
            event(&harness)
            #expect(harness.outcome == "200 hi keep, retire")
        }
    }

    @Test func ignoresEventsAfterAFailure() {
        var harness = ClientMachineHarness()
        harness.receive(["nonsense\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        harness.end()
        harness.reset()
        #expect(harness.outcome == "protocolError")
    }
}
