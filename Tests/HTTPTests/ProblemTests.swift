import Basics
import HTTP
import Testing

/// RFC 9457, in exactly the documented form.
@Suite struct ProblemTests {
    private let id = RequestID.own(0x018f_3c00_0000_0000, 0x1)

    @Test func bodyIsCompactAndInOrder() {
        let problem = Problem(.gatewayTimeout, instance: id)
            .with("failures", json: Bytes(#"[{"call":"product"}]"#))
        #expect(
            String(problem.body)
                == #"{"type":"about:blank","title":"Gateway Timeout","status":504,"#
                + #""instance":"018f3c00000000000000000000000001","failures":[{"call":"product"}]}"#
        )
    }

    @Test func responseHasStatusTypeAndFields() {
        let response = Problem(.serviceUnavailable, instance: id).response(["Retry-After": "1"])
        #expect(response.status == .serviceUnavailable)
        #expect(response.fields[.contentType] == "application/problem+json")
        #expect(response.fields[.retryAfter] == "1")
        #expect(String(response.completeBody).hasSuffix("0001\"}"))
    }
}
