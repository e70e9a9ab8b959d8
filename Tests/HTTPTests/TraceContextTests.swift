import Basics
import Testing

@testable import HTTP

/// Reading `traceparent` (W3C Trace Context, section 3.2).
@Suite struct TraceContextTests {
    private static let ids = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"

    private func fields(_ lines: (FieldName, String)...) throws -> Fields {
        var fields = Fields()
        for (name, value) in lines { fields.append(name, try #require(FieldValue(value))) }
        return fields
    }

    private func trace(_ value: String) throws -> TraceContext? {
        TraceContext(try fields(("traceparent", value)))
    }

    @Test(arguments: [
        "00-\(ids)-01", "01-\(ids)-01", "fe-\(ids)-01", "01-\(ids)-01-", "cc-\(ids)-01-more",
    ])
    func readsEveryVersion(_ value: String) throws {
        let trace = try #require(try trace(value))
        #expect(trace.traceHigh == 0x4bf9_2f35_77b3_4da6)
        #expect(trace.traceLow == 0xa3ce_929d_0e0e_4736)
        #expect(trace.parentID == 0x00f0_67aa_0ba9_02b7)
        #expect(trace.isSampled && trace.state == nil)
    }

    @Test(arguments: [
        // Version 00 ends behind the flags; a later one goes on with a dash.
        "00-\(ids)-01-", "00-\(ids)-01x", "01-\(ids)-01x", "01-\(ids)-012",
        "ff-\(ids)-01", "0g-\(ids)-01", "0A-\(ids)-01", "00-\(ids)-0", "00-\(ids)-0G", "",
        "00_\(ids)-01", "00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    ])
    func rejectsMalformedValues(_ value: String) throws {
        #expect(try trace(value) == nil)
    }

    @Test(arguments: [("00", false), ("01", true), ("02", false), ("ff", true)])
    func onlyTheLowestFlagIsTheDecision(_ flags: String, _ isSampled: Bool) throws {
        #expect(try trace("00-\(Self.ids)-\(flags)")?.isSampled == isSampled)
    }

    @Test(arguments: [
        ("00", "00"), ("01", "01"), ("02", "02"), ("03", "03"), ("ff", "03"), ("fc", "00"),
    ])
    func knownFlagsArePassedOn(_ flags: String, _ passed: String) throws {
        let trace = try #require(try trace("00-\(Self.ids)-\(flags)"))
        #expect((trace.isRandom ? 2 : 0) + (trace.isSampled ? 1 : 0) == Int(passed))
    }

    @Test func severalLinesAreNone() throws {
        let value = "00-\(Self.ids)-01"
        #expect(TraceContext(try fields(("traceparent", value))) != nil)
        #expect(
            TraceContext(try fields(("traceparent", value), ("Traceparent", value))) == nil)
        #expect(TraceContext(Fields()) == nil)
    }

    @Test func stateNeedsAValidParent() throws {
        let state: (FieldName, String) = ("tracestate", "a=1")
        let valid = try fields(("traceparent", "00-\(Self.ids)-00"), state)
        #expect(TraceContext(valid)?.state?.text == Bytes("a=1"))
        #expect(TraceContext(try fields(state)) == nil)
        #expect(TraceContext(try fields(("traceparent", "00-0-0-00"), state)) == nil)
    }

    // MARK: New traces

    @Test func newTraceHasNoParent() {
        let trace = TraceContext(from: Entropy(seed: 1))
        #expect(trace.parentID == 0 && trace.state == nil && !trace.isSampled && trace.isRandom)
        #expect(trace.traceHigh | trace.traceLow != 0)
    }

    @Test(arguments: [(0, 0...0), (10_000, 70...130), (1_000_000, 10_000...10_000)])
    func aShareOfNewTracesIsSampled(_ share: Int, _ expected: ClosedRange<Int>) {
        let entropy = Entropy(seed: 7)
        let sampled = (0..<10_000).count { _ in
            TraceContext(from: entropy, sampledShare: share).isSampled
        }
        #expect(expected.contains(sampled), "\(sampled)")
    }
}
