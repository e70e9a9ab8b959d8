import Simulation
import Testing

/// The seeds reach every status, failure, fault and behaviour, so that the checkers prove something.
@Suite struct CoverageTests {
    /// One task for all tests: a value that its first user computes would block the thread of every other.
    static let coverage = Task {
        await Coverage.of(aggregates: 1...600, streams: 1...300, http2: 1201...1600)
    }

    @Test(arguments: [
        200, 204, 400, 401, 403, 404, 405, 408, 413, 414, 415, 421, 429, 431, 501, 502, 503, 504,
    ])
    func statusOccurs(_ status: Int) async {
        #expect(await Self.coverage.value.statuses[status, default: 0] > 0)
    }

    @Test(arguments: [
        "connection_refused", "connection_timeout", "dns_error", "connection_terminated",
        "http_response_timeout", "http_response_incomplete", "http_response_body_size",
        "http_protocol_error", "tls_certificate_error", "unexpected_status", "invalid_json",
        "invalid_shape", "breaker_open",
        "queue_full", "skipped", "collision", "destination_unavailable",
    ]) func failureKindOccurs(_ kind: String) async {
        #expect(await Self.coverage.value.failures[kind, default: 0] > 0)
    }

    @Test(arguments: UnavailabilityReason.allCases) func hostsBecomeUnavailable(
        _ reason: UnavailabilityReason
    ) async {
        #expect(await Self.coverage.value.unavailable[reason, default: 0] > 0)
    }

    @Test(arguments: Behaviour.allCases) func behaviourOccurs(_ behaviour: Behaviour) async {
        #expect(await Self.coverage.value.behaviours[behaviour, default: 0] > 0)
    }

    @Test(arguments: StreamBehaviour.allCases) func streamBehaviourOccurs(
        _ behaviour: StreamBehaviour
    ) async {
        #expect(await Self.coverage.value.streams[behaviour, default: 0] > 0)
    }

    @Test(arguments: HTTP2Behaviour.allCases) func http2BehaviourOccurs(
        _ behaviour: HTTP2Behaviour
    ) async {
        #expect(await Self.coverage.value.http2[behaviour, default: 0] > 0)
    }

    @Test(arguments: Fault.allCases) func faultIsDrawn(_ fault: Fault) async {
        #expect(await Self.coverage.value.faults[fault, default: 0] > 0)
    }
}
