import Simulation
import Testing

/// The seeds reach what they are there for: a checker that nothing ever comes to proves nothing.
@Suite struct CoverageTests {
    static let tally = Coverage.of(1...200)

    @Test(arguments: [200, 400, 404, 405, 408, 413, 414, 431, 501, 502, 503, 504])
    func everyStatusIsAnswered(
        _ status: Int
    ) {
        #expect(Self.tally.statuses[status, default: 0] > 0)
    }

    @Test(arguments: [
        "connection_refused", "connection_timeout", "dns_error", "connection_terminated",
        "http_response_timeout", "http_response_incomplete", "http_response_body_size",
        "http_protocol_error", "tls_certificate_error", "unexpected_status", "invalid_json",
        "invalid_shape", "breaker_open",
        "queue_full", "skipped", "collision", "destination_unavailable",
    ]) func everyKindOfFailureHappens(_ kind: String) {
        #expect(Self.tally.failures[kind, default: 0] > 0)
    }

    @Test(arguments: LeftOut.allCases) func hostsAreLeftOutForBothReasons(_ reason: LeftOut) {
        #expect(Self.tally.leftOut[reason, default: 0] > 0)
    }

    @Test(arguments: Behaviour.allCases) func everyBehaviourTakesPlace(_ behaviour: Behaviour) {
        #expect(Self.tally.behaviours[behaviour, default: 0] > 0)
    }

    @Test(arguments: Fault.allCases) func everyFaultIsInSomeRun(_ fault: Fault) {
        #expect(Self.tally.faults[fault, default: 0] > 0)
    }
}
