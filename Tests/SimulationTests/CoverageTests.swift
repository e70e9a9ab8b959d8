import Simulation
import Testing

/// The seeds reach every status, failure, fault and behaviour, so that the checkers prove something.
@Suite struct CoverageTests {
    static let coverage = Coverage.of(aggregates: 1...600, streams: 1...300, http2: 1201...1600)

    @Test(arguments: [
        200, 204, 400, 401, 403, 404, 405, 408, 413, 414, 415, 421, 429, 431, 501, 502, 503, 504,
    ])
    func statusOccurs(_ status: Int) {
        #expect(Self.coverage.statuses[status, default: 0] > 0)
    }

    @Test(arguments: [
        "connection_refused", "connection_timeout", "dns_error", "connection_terminated",
        "http_response_timeout", "http_response_incomplete", "http_response_body_size",
        "http_protocol_error", "tls_certificate_error", "unexpected_status", "invalid_json",
        "invalid_shape", "breaker_open",
        "queue_full", "skipped", "collision", "destination_unavailable",
    ]) func failureKindOccurs(_ kind: String) {
        #expect(Self.coverage.failures[kind, default: 0] > 0)
    }

    @Test(arguments: UnavailabilityReason.allCases) func hostsBecomeUnavailable(
        _ reason: UnavailabilityReason
    ) {
        #expect(Self.coverage.unavailable[reason, default: 0] > 0)
    }

    @Test(arguments: Behaviour.allCases) func behaviourOccurs(_ behaviour: Behaviour) {
        #expect(Self.coverage.behaviours[behaviour, default: 0] > 0)
    }

    @Test(arguments: StreamBehaviour.allCases) func streamBehaviourOccurs(
        _ behaviour: StreamBehaviour
    ) {
        #expect(Self.coverage.streams[behaviour, default: 0] > 0)
    }

    @Test(arguments: HTTP2Behaviour.allCases) func http2BehaviourOccurs(
        _ behaviour: HTTP2Behaviour
    ) {
        #expect(Self.coverage.http2[behaviour, default: 0] > 0)
    }

    @Test(arguments: Fault.allCases) func faultIsDrawn(_ fault: Fault) {
        #expect(Self.coverage.faults[fault, default: 0] > 0)
    }
}
