import Basics
import HTTP
import HTTPClient
import Promises
import Testing

@testable import Assembly
@testable import Process

/// The rules of the protocol for the responses of a collector.
@Suite struct ExportRulesTests {
    /// 1994-11-06 08:49:37 UTC.
    private static let time: Int64 = 784_111_777_000_000_000

    private func result(
        _ status: Int, _ body: String = "", retryAfter: String? = nil
    ) throws -> ExportResult {
        var fields = Fields()
        if let retryAfter { fields.append("Retry-After", try #require(FieldValue(retryAfter))) }
        let response = ClientResponse(
            status: try #require(Status(status)), fields: fields, body: .bytes(Bytes(body)))
        return ExportResult(.success(response), at: Self.time)
    }

    // MARK: Results

    @Test(arguments: ["", "{}", "no json", "[]", #"{"partialSuccess":{}}"#])
    func aSuccessAcceptsAll(_ body: String) throws {
        #expect(try result(200, body) == .accepted(rejected: 0, message: ""))
    }

    @Test(arguments: [#""3""#, "3"]) func aPartialSuccessRejectsSpans(_ number: String) throws {
        let body = #"{"partialSuccess":{"rejectedSpans":\#(number),"errorMessage":"too \"old\""}}"#
        #expect(try result(200, body) == .accepted(rejected: 3, message: #"too "old""#))
    }

    /// `partial_success { rejected_spans: 300, error_message: "old" }`, whole and cut off.
    @Test func aPartialSuccessMayBeProtobuf() throws {
        let whole: [UInt8] = [0x0A, 0x08, 0x08, 0xAC, 0x02, 0x12, 0x03, 0x6F, 0x6C, 0x64]
        for count in 0...whole.count {
            let response = ClientResponse(
                status: .ok, fields: ["Content-Type": "application/x-protobuf"],
                body: .bytes(Bytes(Array(whole.prefix(count)))))
            let isWhole = count == whole.count
            #expect(
                ExportResult(.success(response), at: Self.time)
                    == .accepted(rejected: isWhole ? 300 : 0, message: isWhole ? "old" : ""))
        }
    }

    @Test(arguments: ["-1", #""x""#, "99999999999999999999", "null", "{}"])
    func anInvalidNumberRejectsNothing(_ number: String) throws {
        let body = #"{"partialSuccess":{"rejectedSpans":\#(number)}}"#
        #expect(try result(200, body) == .accepted(rejected: 0, message: ""))
    }

    @Test(arguments: [429, 502, 503, 504]) func theseStatusesAreTemporary(_ status: Int) throws {
        #expect(
            try result(status, retryAfter: "7")
                == .temporary(problem: "status \(status)", retryAfter: .seconds(7)))
        #expect(
            try result(status, retryAfter: "Sun, 06 Nov 1994 08:50:40 GMT")
                == .temporary(problem: "status \(status)", retryAfter: .seconds(63)))
        #expect(
            try result(status) == .temporary(problem: "status \(status)", retryAfter: nil))
    }

    @Test(arguments: [301, 400, 401, 403, 404, 408, 413, 500, 501, 505])
    func otherStatusesAreFinal(_ status: Int) throws {
        #expect(
            try result(status, retryAfter: "7") == .refused(problem: "status \(status)"))
    }

    @Test func aFailedConnectionIsTemporary() {
        let result = ExportResult(.failure(PromiseError.timedOut), at: Self.time)
        #expect(result == .temporary(problem: "no response in time", retryAfter: nil))
    }

    // MARK: Backoff

    @Test func waitsGrowUpToALimitWithJitter() {
        let entropy = Entropy(seed: 3)
        var retry = ExportRetry()
        for longest in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            let wait = retry.wait(retryAfter: nil, entropy)
            #expect(wait >= .milliseconds(longest / 2) && wait < .milliseconds(longest))
        }
        for _ in 0..<100 { #expect(retry.wait(retryAfter: nil, entropy) < .seconds(30)) }
        retry.reset()
        #expect(retry.wait(retryAfter: nil, entropy) < .seconds(1))
    }

    @Test func waitsDiffer() {
        var waits: Set<Duration> = []
        for seed in 0..<20 as Range<UInt64> {
            var retry = ExportRetry()
            waits.insert(retry.wait(retryAfter: nil, Entropy(seed: seed)))
        }
        #expect(waits.count == 20)
    }

    @Test func theCollectorsTimeCountsUpToALimit() {
        var retry = ExportRetry()
        let entropy = Entropy(seed: 1)
        #expect(retry.wait(retryAfter: .seconds(7), entropy) == .seconds(7))
        #expect(retry.wait(retryAfter: .seconds(86_400), entropy) == .seconds(120))
    }

    // MARK: Backlog

    @Test func atMost16384SpansWait() {
        let backlog = SpanBacklog()
        #expect(backlog.reserve(16_384) && !backlog.reserve(1))
    }

    @Test func theBacklogIsBoundedAndCountsWhatItRefuses() {
        let backlog = SpanBacklog(limit: 10)
        #expect(backlog.reserve(6) && backlog.reserve(4))
        #expect(!backlog.reserve(1) && !backlog.reserve(7))
        #expect(backlog.count == 10 && backlog.refusedCount == 8)
        backlog.release(4)
        #expect(backlog.reserve(4) && backlog.count == 10)
    }
}
