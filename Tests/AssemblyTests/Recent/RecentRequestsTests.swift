import Assembly
import Basics
import Foundation
import Gateway
import HTTP
import TestSupport
import Testing
import WorkerSupport

/// What a worker records about requests that have ended, in virtual time.
@Suite(.watched) struct RecentRequestsTests {
    static let calls = """
        product: { from: a, get: /1 }
        stock: { from: b, get: /2 }
        """
    static let admin = "admin: 127.0.0.1:9901"

    private func harness(
        _ calls: String = calls, endpoint: String = "", backend: String = "", top: String = admin
    ) throws -> GatewayHarness {
        try GatewayHarness(calls, endpoint: endpoint, backend: backend, top: top)
    }

    private func list(
        _ harness: GatewayHarness, after: UInt64 = 0, max: Int = 500, withSample: Bool = false
    ) throws -> RecentRequestList {
        let query = RecentQuery(
            number: 7, .requests(after: after, max: max, withSample: withSample))
        let answer = try #require(harness.instance?.answer(query))
        #expect(answer.number == 7)
        guard case .requests(let list) = answer.content else { throw Unexpected() }
        return list
    }

    private struct Unexpected: Error {}

    private func entries(_ list: RecentRequestList) -> [RecentEntry] {
        var reader = WordReader(list.words)
        var entries: [RecentEntry] = []
        while let entry = RecentEntry(&reader) { entries.append(entry) }
        #expect(reader.offset == list.words.count, "every word belongs to an entry")
        return entries
    }

    private func overview(_ harness: GatewayHarness) throws -> WorkerOverview {
        let answer = try #require(harness.instance?.answer(RecentQuery(number: 1, .overview)))
        guard case .overview(let overview) = answer.content else { throw Unexpected() }
        return overview
    }

    // MARK: Which requests

    @Test func retainsFailedPartialAndRejectedRequestsButNoOrdinaryOnes() throws {
        let harness = try harness(
            "one: { from: a, get: /1, required: true }\ntwo: { from: b, get: /2 }")
        harness.on("/1", .ok("1"), .ok("1"), .status(500))
        harness.on("/2", .ok("2"), .status(500))
        for _ in 0..<3 { _ = try harness.fetch() }
        _ = try harness.fetch(get("/nowhere"))
        let entries = entries(try list(harness))
        #expect(entries.map(\.outcome) == [.partial, .failed, .rejected])
        #expect(entries.map(\.reasons) == [.partial, .failed, .rejected])
        #expect(entries.map(\.status) == [200, 502, 404])
        #expect(entries.map(\.sequence) == [1, 2, 3])
        let totals = try overview(harness).endpoints[0].totals
        #expect(totals.requests == 3 && totals.partial == 1 && totals.failed == 1)
        #expect(try overview(harness).elsewhere.totals.rejected == 1)
        harness.expectQuiet()
    }

    @Test func aClientThatDisconnectsIsAReason() throws {
        let harness = try harness()
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(10)
        client.leave()
        harness.pass(10)
        let entries = entries(try list(harness))
        #expect(entries.map(\.reasons) == [.clientGone] && entries.map(\.status) == [499])
        harness.expectQuiet()
    }

    /// The p99 of a window with a hundred quick requests.
    @Test func retainsARequestThatIsSlowerThanThePercentile() throws {
        let harness = try harness()
        harness.on("/1", Array(repeating: .ok("1", after: 20), count: 120) + [.ok("1", after: 90)])
        for _ in 0..<120 { _ = try harness.fetch() }
        #expect(entries(try list(harness)).isEmpty)
        // The percentile is computed once per second.
        harness.pass(1_000)
        _ = try harness.fetch()
        let slow = entries(try list(harness))
        #expect(slow.map(\.reasons) == [.slow])
        #expect(slow.map(\.ended.microseconds) == [90_000])
        harness.expectQuiet()
    }

    @Test func withFewRequestsNoneIsSlow() throws {
        let harness = try harness()
        harness.on("/1", Array(repeating: .ok("1", after: 20), count: 50) + [.ok("1", after: 90)])
        for _ in 0..<50 { _ = try harness.fetch() }
        harness.pass(1_000)
        _ = try harness.fetch()
        #expect(entries(try list(harness)).isEmpty)
        harness.expectQuiet()
    }

    @Test(arguments: [(99, 0), (100, 1)])
    func aRequestIsSlowOnceThereAre100Requests(_ count: Int, _ slow: Int) throws {
        let harness = try harness()
        let replies = Array(repeating: Reply.ok("1", after: 20), count: count)
        harness.on("/1", replies + [.ok("1", after: 90)])
        for _ in 0..<count { _ = try harness.fetch() }
        harness.pass(1_000)
        _ = try harness.fetch()
        #expect(entries(try list(harness)).count == slow)
        harness.expectQuiet()
    }

    /// 256 KiB of words of four bytes; less than an entry stays free.
    @Test func retains256KiBOfRequests() throws {
        let harness = try harness()
        harness.on("/2", .status(500))
        for _ in 0..<3000 {
            _ = try harness.fetch()
            harness.pass(50)
        }
        let words = try list(harness, max: 10_000).words.count
        #expect((65_536 - 300...65_536).contains(words))
        harness.expectQuiet()
    }

    @Test func countsWhatIsBeyondTwentyPerSecond() throws {
        let harness = try harness()
        harness.on("/2", .status(500))
        for _ in 0..<25 { _ = try harness.fetch() }
        #expect(entries(try list(harness)).count == 20)
        let endpoint = try overview(harness).endpoints[0]
        #expect(endpoint.totals.partial == 25 && endpoint.excess[1] == 5)
        harness.expectQuiet()
    }

    @Test func recordsTheSampleOnlyWhileAPageShowsIt() throws {
        let harness = try harness()
        _ = try harness.fetch()
        #expect(entries(try list(harness, withSample: true)).isEmpty, "before anything was shown")
        _ = try harness.fetch()
        #expect(entries(try list(harness)).isEmpty, "not requested")
        #expect(entries(try list(harness, withSample: true)).map(\.outcome) == [.ok])
        harness.pass(11_000)
        _ = try harness.fetch()
        #expect(entries(try list(harness, withSample: true)).count == 1, "the page was closed")
        harness.expectQuiet()
    }

    @Test func withoutAnAdminAddressNothingIsRecorded() throws {
        let harness = try harness(top: "")
        harness.on("/2", .status(500))
        _ = try harness.fetch()
        #expect(harness.instance?.answer(RecentQuery(number: 1, .overview)) == nil)
        harness.expectQuiet()
    }

    // MARK: The cursor

    @Test func aListBeginsAfterASequenceNumberAndPrefersTheNewest() throws {
        let harness = try harness()
        harness.on("/2", .status(500))
        for _ in 0..<6 { _ = try harness.fetch() }
        #expect(try entries(list(harness, after: 4)).map(\.sequence) == [5, 6])
        #expect(try list(harness, after: 6).words.isEmpty)
        let newest = try list(harness, after: 1, max: 2)
        #expect(entries(newest).map(\.sequence) == [5, 6])
        #expect(newest.skipped == 3 && newest.newest == 6)
        #expect(try entries(list(harness, after: 1_000)).count == 6, "of a former process")
        harness.expectQuiet()
    }

    @Test func retainedRequestsComeBeforeTheSampleAndInOrder() throws {
        let harness = try harness()
        _ = try list(harness, withSample: true)
        harness.on("/2", .ok("2"), .status(500), .ok("2"), .ok("2"), .status(500))
        for _ in 0..<5 { _ = try harness.fetch() }
        #expect(try entries(list(harness, withSample: true)).map(\.sequence) == [1, 2, 3, 4, 5])
        let few = try list(harness, max: 3, withSample: true)
        #expect(entries(few).map(\.sequence) == [2, 4, 5] && few.skipped == 2)
        harness.expectQuiet()
    }

    // MARK: The content

    @Test func anEntryHasEveryPhaseOfEveryAttempt() throws {
        let harness = try harness(
            """
            tried: { from: a, get: /1, retry: { on: [503], backoff: 0ms } }
            hedged: { from: b, get: /2, hedge: { after: 100ms } }
            other: { from: c, get: /3 }
            """)
        harness.on("/1", .status(503), .ok("1", after: 5))
        harness.on("/2", .ok("1", after: 500), .ok("2", after: 50))
        harness.on("/3", .status(500, after: 7))
        _ = try harness.fetch(get("/x?secret=1", "X-Request-Id: abc.de", "Cookie: secret"))
        let list = try list(harness)
        let entry = try #require(entries(list).first)
        #expect(entry.id.description == "abc.de")
        #expect(list.endpoints[entry.endpoint]?.name == "GET /x")
        #expect(entry.ended.microseconds == 150_000 && entry.calling == 150_000)
        #expect(entry.calls.map(\.attempts) == [2, 2, 1])
        #expect(entry.calls.map(\.outcome) == [.succeeded, .succeeded, .failed(.unexpectedStatus)])
        #expect(entry.calls.map(\.ended.microseconds) == [5_000, 150_000, 7_000])
        let attempts = entry.attempts.filter { $0.call == 1 }
        #expect(attempts.map(\.cause) == [.first, .hedge])
        #expect(attempts.map(\.began.microseconds) == [0, 100_000])
        #expect(attempts.map(\.outcome) == [.failed(.cancelled), .answered])
        #expect(attempts[1].firstByte.microseconds == 150_000 && attempts[1].status == 200)
        #expect(!attempts[0].firstByte.hasHappened && attempts[0].sent.hasHappened)
        #expect(entry.calls[1].decidingAttempt.map { entry.attempts[$0].cause } == .hedge)
        #expect(entry.attempts.filter { $0.call == 0 }.map(\.reusedConnection) == [false, true])
        harness.expectQuiet()
    }

    /// A list has its shortest, median and longest request, and attempts of those that failed; the attempts of
    /// other calls, and their places, stay.
    @Test func keepsASummaryOfAList() throws {
        let harness = try harness(
            """
            page: { from: b, get: /o, required: true }
            product: { from: a, each: { in: "{page.items[]}", as: e, max: 200 }, get: "/i/{e}" }
            last: { from: b, get: /last, after: [product] }
            """)
        let items = (0..<99).map { "\($0)" } + ["5"]
        harness.on("/o", .ok(#"{"items":[\#(items.joined(separator: ","))]}"#))
        for index in 0..<99 {
            let milliseconds = index % 3 + 1
            harness.on(
                "/i/\(index)",
                index % 5 == 0
                    ? .status(404, after: milliseconds) : .ok("1", after: milliseconds))
        }
        harness.on("/last", .status(500, after: 9))
        _ = try harness.fetch()
        let entry = try #require(entries(try list(harness)).first)
        #expect(entry.outcome == .partial && entry.calls.map(\.attempts) == [1, 99, 1])
        let list = try #require(entry.lists.first)
        #expect(entry.lists.count == 1 && list.call == 1)
        #expect(list.elements == 100 && list.shared == 1 && list.truncated == 0)
        #expect(list.requests == 99 && list.failed == 21, "element 5 occurs twice")
        #expect((list.shortest, list.median, list.longest) == (1_000, 2_000, 3_000))
        #expect(entry.attempts.map(\.call) == [0] + Array(repeating: 1, count: 8) + [2])
        #expect(entry.attempts.map(\.status) == [200] + Array(repeating: 404, count: 8) + [500])
        #expect(entry.calls.map(\.decidingAttempt) == [0, nil, 9])
        harness.expectQuiet()
    }

    /// Statuses that the call accepts are no failures, responses without the value are, and what a lost quorum
    /// cancels is none by itself.
    @Test func showsAttemptsThatFailedByThemselves() throws {
        let harness = try harness(
            """
            product:
              each: { in: "{request.query.id[]}", as: id, max: 20, parallel: 10, enough: 8 }
              from: a
              get: "/i/{id}"
              accept: [200-299, 404]
              take: value
            """)
        for id in 0..<6 { harness.on("/i/\(id)", .hangs) }
        harness.on("/i/6", .status(404, #"{"value":null}"#, after: 5))
        harness.on("/i/7", .status(500, after: 1))
        harness.on("/i/8", .ok("{}", after: 2))
        harness.on("/i/9", .ok("{", after: 3))
        harness.on("/i/10", .status(503, after: 1))
        harness.on("/i/11", .status(500, after: 1))
        let ids = (0..<12).map { "id=\($0)" }.joined(separator: "&")
        let response = try harness.fetch(get("/x?\(ids)"))
        #expect(response.status == 502)
        let entry = try #require(entries(try list(harness)).first)
        #expect(entry.attempts.map(\.status) == [500, 200, 200, 503, 500], "\(entry.attempts)")
        #expect(entry.lists.first?.failed == 5)
        harness.expectQuiet()
    }

    @Test(arguments: ["a", "abcd", "abcde", String(repeating: "x", count: 128)])
    func idsOfEveryLengthAreKept(_ id: String) throws {
        let harness = try harness()
        harness.on("/2", .status(500))
        _ = try harness.fetch(get("/x", "X-Request-Id: \(id)"))
        #expect(try entries(list(harness)).map(\.id.description) == [id])
        harness.expectQuiet()
    }

    @Test func truncatedWordsAreNoEntry() throws {
        let harness = try harness()
        harness.on("/2", .status(500))
        _ = try harness.fetch()
        let words = try list(harness).words
        #expect(words.count > 30)
        for count in 0..<words.count {
            var reader = WordReader(Array(words.prefix(count)))
            #expect(RecentEntry(&reader) == nil)
        }
        harness.expectQuiet()
    }

    // MARK: The overview

    @Test func theOverviewCountsCallsAndTheirTimes() throws {
        let harness = try harness()
        harness.on("/1", .ok("1", after: 20))
        harness.on("/2", .status(500, after: 5))
        for _ in 0..<4 { _ = try harness.fetch() }
        let overview = try overview(harness)
        let endpoint = try #require(overview.endpoints.first)
        #expect(endpoint.names.calls.map(\.name) == ["product", "stock"])
        #expect(times(endpoint, row: 0) == [20_000: 4])
        #expect(times(endpoint, row: 2) == [0: 4] && times(endpoint, row: 3) == [20_000: 4])
        #expect(times(endpoint, row: 6) == [5_000: 4])
        #expect(
            endpoint.window.suffix(15) == [4, 0, 0, 0, 0, 4, 4, 0, 0, 0, 4, 0, 4, 0, 0])
        #expect(overview.backends.map(\.state.name) == ["a", "b", "c"])
        harness.expectQuiet()
    }

    /// The counts of a row, by the time of which the bucket is meant.
    private func times(_ endpoint: EndpointOverview, row: Int) -> [Int: UInt32] {
        var counts: [Int: UInt32] = [:]
        for bucket in 0..<LogLinearBuckets.count {
            let count = endpoint.window[row * LogLinearBuckets.count + bucket]
            guard count > 0 else { continue }
            let bounds = LogLinearBuckets.bounds(of: bucket)
            counts[[0, 5_000, 20_000, 90_000].first { bounds.contains($0) } ?? -1] = count
        }
        return counts
    }

    @Test func aPaddedEndpointHasCountsAndNoTimes() throws {
        let harness = try harness(endpoint: "min_duration: 400ms")
        harness.on("/1", .ok("1", after: 20))
        _ = try harness.fetch()
        let endpoint = try #require(try overview(harness).endpoints.first)
        #expect(endpoint.totals.requests == 1 && endpoint.window.suffix(15).first == 1)
        #expect(endpoint.window.dropLast(15).allSatisfy { $0 == 0 })
        harness.expectQuiet()
    }

    // MARK: Reloads

    @Test func aReloadWithTheSameCallsKeepsTheCounts() throws {
        let harness = try harness()
        _ = try harness.fetch()
        try harness.install(GatewayHarness.text(Self.calls, "", "", Self.admin))
        _ = try harness.fetch()
        #expect(try overview(harness).endpoints.map(\.totals.requests) == [2])
        harness.expectQuiet()
    }

    @Test func aReloadWithOtherCallsBeginsAgainAndKeepsTheNamesOfOldEntries() throws {
        let harness = try harness()
        harness.on("/2", .status(500))
        _ = try harness.fetch()
        try harness.install(
            GatewayHarness.text("other: { from: b, get: /2 }", "", "", Self.admin))
        _ = try harness.fetch()
        let list = try list(harness)
        let names = entries(list).map { list.endpoints[$0.endpoint]?.calls.map(\.name) ?? [] }
        #expect(names == [["product", "stock"], ["other"]])
        #expect(try overview(harness).endpoints.map(\.totals.requests) == [1])
        harness.expectQuiet()
    }

    @Test func anEndpointThatAReloadRemovesIsNotShown() throws {
        let harness = try harness()
        _ = try harness.fetch()
        try harness.install(
            GatewayHarness.text(Self.calls, "route: GET /y", "", Self.admin))
        _ = try harness.fetch(get("/y"))
        #expect(try overview(harness).endpoints.map(\.names.name) == ["GET /y"])
        harness.expectQuiet()
    }
}
