import Assembly
import Basics
import Foundation
import Gateway
import HTTP
import Reactor
import Rehearsal
import TestSupport
import Testing
import WorkerSupport

/// Rate limits that replicas share (`share: store`), with a simulated store, in virtual time.
@Suite(.watched) struct SharedLimitTests {
    private static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 6379)

    /// A gateway with a limit `it`, and its store.
    private struct Replica {
        let gateway: GatewayHarness
        let store: SimulatedStore

        func statuses(_ count: Int, _ text: String = get()) throws -> [Int] {
            try (0..<count).map { _ in try gateway.fetch(text).status }
        }

        /// Status and time of one response.
        func outcome(_ text: String = get()) throws -> String {
            let start = gateway.ms
            let response = try gateway.fetch(text)
            return "\(response.status) after \(String(format: "%g", gateway.ms - start))"
        }

        /// Ends the store after it has received what was sent to it.
        func loseStore() {
            gateway.pass(1)
            store.kill()
            gateway.pass(1)
        }

        func expectStoreDecides(_ location: SourceLocation = #_sourceLocation) throws {
            let former = store.charges.count
            #expect(try outcome() == "200 after 0", sourceLocation: location)
            #expect(store.charges.count == former + 1, sourceLocation: location)
        }

        func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
            store.kill()
            gateway.expectQuiet(location)
        }
    }

    private func replica(
        _ limit: String, _ endpoint: String = "", others: String = "", uses: String = "[it]",
        isRunning: Bool = true
    ) throws -> Replica {
        let gateway = try GatewayHarness(
            config: text(limit, endpoint, others: others, uses: uses))
        let store = SimulatedStore(on: gateway.outside, at: Self.address)
        if isRunning { try store.start() }
        gateway.pass(1)
        return Replica(gateway: gateway, store: store)
    }

    /// A configuration with a limit `it` that replicas share.
    private func text(
        _ limit: String, _ endpoint: String = "", others: String = "", uses: String = "[it]",
        store: String = ""
    ) -> String {
        GatewayHarness.text(
            GatewayHarness.oneCall, "rate_limits: \(uses)\n\(endpoint)", "",
            """
            store: { url: redis://127.0.0.1\(store) }
            rate_limits: { it: { share: store, \(limit) }\(others) }
            """)
    }

    /// A second limit, by the parameter `k` and thus checked after `it`, grants each value once.
    private func replicaWithLaterLimit(
        _ limit: String, others: String = "", uses: String = "[it, late]"
    ) throws -> Replica {
        try replica(
            limit, "params: { k: {} }", others: others + ", late: { rate: 1/h, key: \"{k}\" }",
            uses: uses)
    }

    // MARK: The store decides

    @Test func theStoreDecidesAboutEachRequest() throws {
        let replica = try replica("rate: 10/s, burst: 3, key: address")
        #expect(try replica.statuses(5) == [200, 200, 200, 429, 429])
        #expect(replica.store.charges.map(\.isGranted) == [true, true, true, false, false])
        replica.gateway.pass(100)
        #expect(try replica.statuses(2) == [200, 429])
        let response = try replica.gateway.fetch()
        #expect(response["Retry-After"] == "1")
        #expect(response["RateLimit"] == #""it";r=0;t=1"#)
        replica.expectQuiet()
    }

    @Test func announcesWhatTheStoreHasLeft() throws {
        let replica = try replica("rate: 100/m, burst: 3, key: address")
        for (remaining, seconds) in [(2, 1), (1, 2), (0, 2)] {
            let response = try replica.gateway.fetch()
            #expect(response["RateLimit-Policy"] == #""it";q=100;w=60"#)
            #expect(response["RateLimit"] == #""it";r=\#(remaining);t=\#(seconds)"#)
        }
        replica.expectQuiet()
    }

    /// What a client sends must not be readable in the store.
    @Test func keysContainNeitherNamesNorAddresses() throws {
        let replica = try replica("rate: 10/s, key: \"{request.header.X-T}\"")
        for value in ["ann", "ann", "ben"] {
            #expect(try replica.gateway.fetch(get("/x", "X-T: \(value)")).status == 200)
        }
        let keys = replica.store.charges.map(\.key)
        #expect(keys[0] == keys[1] && keys[0] != keys[2])
        for key in keys {
            #expect(key.count == "tributary:limit:".utf8.count + 16)
            #expect(key.starts(with: Array("tributary:limit:".utf8)))
        }
        replica.expectQuiet()
    }

    @Test func plansHaveKeysOfTheirOwn() throws {
        let replica = try replica(
            "rate: 2/h, key: address, plans: { gold: 3/h }, plan: \"{request.header.X-P}\"")
        #expect(try replica.statuses(4, get("/x", "X-P: gold")) == [200, 200, 200, 429])
        #expect(try replica.statuses(3) == [200, 200, 429])
        #expect(Set(replica.store.charges.map(\.key)).count == 2)
        replica.expectQuiet()
    }

    @Test func aStoreThatForgotTheScriptDecidesAllTheSame() throws {
        let replica = try replica("rate: 10/s, burst: 2, key: address")
        #expect(try replica.statuses(1) == [200])
        replica.store.forgetScripts()
        #expect(try replica.statuses(2) == [200, 429])
        #expect(replica.store.charges.count == 3)
        replica.expectQuiet()
    }

    /// A limit of the process costs no round trip, so it is checked first.
    @Test func aLimitOfTheProcessRefusesBeforeTheStoreIsUsed() throws {
        let replica = try replica(
            "rate: 100/s, key: address", others: ", own: { rate: 1/s, key: address }",
            uses: "[it, own]")
        #expect(try replica.statuses(3) == [200, 429, 429])
        #expect(replica.store.charges.count == 1)
        replica.expectQuiet()
    }

    @Test func aRefusalOfTheStoreRefundsTheOtherLimits() throws {
        let replica = try replica(
            "rate: 1/m, key: \"{request.query.k}\"",
            others: ", own: { rate: 3/m, key: address }", uses: "[it, own]")
        #expect(try replica.statuses(4, get("/x?k=a")) == [200, 429, 429, 429])
        #expect(try replica.statuses(2, get("/x?k=b")) == [200, 429])
        #expect(try replica.statuses(1, get("/x?k=c")) == [200], "the third of `own`")
        #expect(try replica.statuses(1, get("/x?k=d")) == [429])
        replica.expectQuiet()
    }

    @Test func aLaterRefusalRefundsTheStore() throws {
        let replica = try replicaWithLaterLimit("rate: 3/h, key: address")
        #expect(try replica.statuses(4, get("/x?k=a")) == [200, 429, 429, 429])
        replica.gateway.pass(1)
        #expect(try replica.statuses(1, get("/x?k=b")) == [200])
        #expect(try replica.statuses(1, get("/x?k=c")) == [200])
        #expect(try replica.statuses(1, get("/x?k=d")) == [429], "three in all")
        replica.expectQuiet()
    }

    /// Of a charge of 1 s that was made 0.9 s ago, time has paid the most: the bucket would grant three
    /// requests within 0.82 s, with a burst of two and one each second.
    @Test(arguments: [("", true), (", sync: 10ms", true), ("", false)])
    func aLateRefundGrantsNoMoreThanTheRate(_ sync: String, isStoreUp: Bool) throws {
        let replica = try replica(
            "rate: 1/s, burst: 2, key: address\(sync)", "route: POST /x",
            others: ", late: { rate: 1/h, key: \"{request.body.user}\" }", uses: "[it, late]",
            isRunning: isStoreUp)
        func status(_ user: String) throws -> Int {
            try replica.statuses(1, post(#"{"user":"\#(user)"}"#))[0]
        }
        #expect(try status("ann") == 200)
        replica.gateway.pass(5_000)
        let slow = try replica.gateway.send(String(post(#"{"user":"ann"}"#).dropLast()))
        replica.gateway.pass(200)
        #expect(try status("ben") == 200)
        replica.gateway.pass(700)
        slow.send("}")
        #expect(replica.gateway.response(of: slow).status == 429)
        replica.gateway.pass(60)
        #expect(try status("cid") == 200, "0.1 s is returned")
        replica.gateway.pass(60)
        #expect(try status("dan") == 429)
        replica.gateway.pass(1_000)
        #expect(try status("dan") == 200)
        replica.expectQuiet()
    }

    /// The store grants two requests and the share of this replica one, so that the second request is
    /// not charged there, and its refund must not return the first one.
    @Test func onlyWhatTheLocalShareHasChargedIsRefunded() throws {
        let replica = try replicaWithLaterLimit("rate: 2/h, burst: 2, replicas: 2, key: address")
        #expect(try replica.statuses(2, get("/x?k=a")) == [200, 429])
        replica.loseStore()
        #expect(try replica.statuses(1, get("/x?k=b")) == [429])
        replica.expectQuiet()
    }

    /// The positive control: a charge of the local share is refunded there.
    @Test func aChargeOfTheLocalShareIsRefunded() throws {
        let replica = try replicaWithLaterLimit("rate: 2/h, burst: 2, key: address")
        #expect(try replica.statuses(2, get("/x?k=a")) == [200, 429])
        replica.loseStore()
        #expect(try replica.statuses(2, get("/x?k=b")) == [200, 429])
        replica.expectQuiet()
    }

    /// A limit that the store decides gets no verdict; the synchronised one is refunded all the same.
    @Test func aSynchronisedChargeIsRefundedWithoutAVerdict() throws {
        let replica = try replicaWithLaterLimit(
            "rate: 2/h, sync: 100ms, key: address",
            others: ", each: { share: store, rate: 100/s, key: address }", uses: "[it, each, late]")
        #expect(try replica.statuses(1, get("/x?k=a")) == [200])
        replica.store.set(.frozen)
        #expect(try replica.outcome(get("/x?k=a")) == "429 after 50")
        replica.store.set(nil)
        #expect(try replica.statuses(1, get("/x?k=b")) == [200])
        #expect(try replica.statuses(1, get("/x?k=c")) == [429], "two in all")
        replica.expectQuiet()
    }

    @Test func aLimitByParameterIsDecidedByTheStore() throws {
        let replica = try replica("rate: 1/s, key: \"{k}\"", "params: { k: {} }")
        #expect(try replica.statuses(2, get("/x?k=a")) == [200, 429])
        #expect(try replica.statuses(2, get("/x?k=b")) == [200, 429])
        #expect(replica.store.charges.count == 4)
        replica.expectQuiet()
    }

    // MARK: The store is down

    @Test func aKilledStoreFailsNoRequest() throws {
        let replica = try replica("rate: 10/s, burst: 2, key: address")
        #expect(try replica.statuses(1) == [200])
        replica.store.kill()
        #expect(try replica.outcome() == "200 after 0")
        #expect(try replica.outcome() == "429 after 0", "both requests of the burst are used")
        replica.gateway.pass(100)
        #expect(try replica.outcome() == "200 after 0")
        #expect(replica.gateway.logged.count { $0.contains(#""msg":"store down""#) } == 1)
        try replica.store.start()
        replica.gateway.pass(2_000)
        #expect(replica.gateway.logged.count { $0.contains(#""msg":"store up""#) } == 1)
        let former = replica.store.charges.count
        #expect(try replica.statuses(3) == [200, 200, 429])
        #expect(replica.store.charges.count == former + 3)
        replica.expectQuiet()
    }

    /// Three requests find out; the others do not wait.
    @Test func aFrozenStoreDelaysThreeRequestsByItsTimeout() throws {
        let replica = try replica("rate: 100/s, key: address")
        replica.store.set(.frozen)
        for _ in 1...3 { #expect(try replica.outcome() == "200 after 50") }
        for _ in 1...5 { #expect(try replica.outcome() == "200 after 0") }
        // Probes do not delay requests either.
        replica.gateway.pass(5_500)
        #expect(try replica.outcome() == "200 after 0")
        replica.store.set(nil)
        replica.gateway.pass(1_100)
        try replica.expectStoreDecides()
        replica.expectQuiet()
    }

    @Test func theWaitForTheStoreIsNotTheGatewaysOwnTime() throws {
        let replica = try replica("rate: 100/s, key: address")
        #expect(try replica.outcome() == "200 after 0")
        replica.store.set(.frozen)
        #expect(try replica.outcome() == "200 after 50")
        let lines = replica.gateway.logged.filter { $0.contains(#""msg":"request""#) }
        try #require(lines.count == 2)
        #expect(!lines[0].contains("store_ms"))
        #expect(lines[1].contains(#""ms":50.000,"own_ms":0.000,"store_ms":50.000,"#))
        replica.expectQuiet()
    }

    @Test func aRequestInFlightShowsThatItWaitsForTheStore() throws {
        let replica = try replica("rate: 100/s, key: address")
        replica.store.set(.frozen)
        _ = try replica.gateway.send(get())
        replica.gateway.pass(10)
        #expect(replica.gateway.instance?.snapshot.requests.map(\.wait) == [.store])
        replica.gateway.pass(100)
        replica.expectQuiet()
    }

    @Test(arguments: [
        SimulatedStore.Fault.writesFail("READONLY You can't write against a read only replica."),
        .writesFail("OOM command not allowed when used memory > 'maxmemory'."),
        .allFails("LOADING Redis is loading the dataset in memory"),
        .allFails("NOAUTH Authentication required."), .malformed, .repeatsReplies, .closes,
    ])
    func aFaultOfTheStoreFailsNoRequest(_ fault: SimulatedStore.Fault) throws {
        let replica = try replica("rate: 100/s, key: address")
        replica.store.set(fault)
        for _ in 1...5 { #expect(try replica.outcome() == "200 after 0") }
        replica.gateway.pass(3_000)
        #expect(try replica.outcome() == "200 after 0")
        #expect(replica.gateway.logged.count { $0.contains(#""msg":"store down""#) } == 1)
        replica.store.set(nil)
        replica.gateway.pass(1_100)
        try replica.expectStoreDecides()
        replica.expectQuiet()
    }

    @Test func eachReplicaHasItsShareWhileTheStoreIsDown() throws {
        let replica = try replica(
            "rate: 10/s, burst: 4, replicas: 2, key: address", isRunning: false)
        #expect(try replica.statuses(3) == [200, 200, 429])
        replica.gateway.pass(199)
        #expect(try replica.statuses(1) == [429])
        replica.gateway.pass(1)
        #expect(try replica.statuses(2) == [200, 429])
        replica.expectQuiet()
    }

    /// Otherwise a failing store would give every client a second burst.
    @Test func theLocalShareIsChargedWhileTheStoreDecides() throws {
        let replica = try replica("rate: 1/m, burst: 4, key: address")
        #expect(try replica.statuses(3) == [200, 200, 200])
        replica.store.kill()
        #expect(try replica.statuses(3) == [200, 429, 429])
        replica.expectQuiet()
    }

    @Test func aRequestThatCostsMoreThanTheShareIsGrantedOnce() throws {
        let replica = try replica(
            "rate: 10/s, burst: 10, replicas: 5, key: address", uses: "[{ limit: it, cost: 6 }]",
            isRunning: false)
        #expect(try replica.statuses(2) == [200, 429])
        replica.expectQuiet()
    }

    /// The store charges the elements, and so does the share of the process without it.
    @Test(arguments: [true, false]) func aListCostsItsElements(_ isRunning: Bool) throws {
        let replica = try replica(
            "rate: 10/s, burst: 10, key: address",
            uses: "[{ limit: it, cost: \"{count(request.query.id)}\" }]", isRunning: isRunning)
        let statuses = try [6, 5, 4, 1].map { count in
            let query = (0..<count).map { "id=\($0)" }.joined(separator: "&")
            return try replica.gateway.fetch(get("/x?\(query)")).status
        }
        #expect(statuses == [200, 429, 200, 429])
        replica.expectQuiet()
    }

    @Test func aLimitThatIsOpenGrantsEverythingWhileTheStoreIsDown() throws {
        let replica = try replica("rate: 1/m, when_down: open, key: address")
        #expect(try replica.statuses(2) == [200, 429])
        replica.store.kill()
        #expect(try replica.statuses(5) == [200, 200, 200, 200, 200])
        replica.expectQuiet()
    }

    @Test func aLimitThatIsClosedRefusesWhileTheStoreIsDown() throws {
        let replica = try replica("rate: 100/s, when_down: closed, key: address")
        #expect(try replica.statuses(2) == [200, 200])
        replica.store.kill()
        let response = try replica.gateway.fetch()
        #expect(response.status == 503 && response["Retry-After"] == "1")
        #expect(response.body.contains(#""reason":"limits_unavailable""#))
        replica.expectQuiet()
    }

    /// Earlier charges are refunded, so nothing announces them.
    @Test func theRefusalOfAClosedLimitAnnouncesNoOther() throws {
        let replica = try replica(
            "rate: 100/s, when_down: closed, key: address",
            others: ", own: { rate: 5/s, key: address }", uses: "[own, it]")
        #expect(try replica.gateway.fetch()["RateLimit"]?.contains(#""own";r=4"#) == true)
        replica.store.kill()
        let response = try replica.gateway.fetch()
        #expect(response.status == 503)
        #expect(response["RateLimit"] == nil && response["RateLimit-Policy"] == nil)
        replica.expectQuiet()
    }

    /// Before its first connection, a closed limit does not refuse either.
    @Test func requestsAtTheStartWaitForTheConnection() throws {
        let gateway = try GatewayHarness(
            config: text("rate: 1/s, when_down: closed, key: address"))
        let store = SimulatedStore(on: gateway.outside, at: Self.address)
        try store.start()
        #expect(try gateway.fetch().status == 200)
        #expect(store.charges.count == 1)
        store.kill()
        gateway.expectQuiet()
    }

    // MARK: Synchronisation

    @Test func aSynchronisedLimitDelaysNoRequest() throws {
        let replica = try replica("rate: 10/s, burst: 3, sync: 100ms, key: address")
        for expected in ["200 after 0", "200 after 0", "200 after 0", "429 after 0"] {
            #expect(try replica.outcome() == expected)
        }
        #expect(replica.store.charges.isEmpty)
        replica.gateway.pass(101)
        #expect(replica.store.charges.count == 1, "one charge for all three")
        replica.gateway.pass(100)
        #expect(try replica.outcome() == "200 after 0")
        replica.expectQuiet()
    }

    /// The requests of an interval are charged with their own times, not all at its end.
    @Test(arguments: ["20ms", "300ms"]) func aLongIntervalCostsNoRequests(_ sync: String) throws {
        let replica = try replica("rate: 50/s, burst: 6, sync: \(sync), key: address")
        var granted = 0
        for _ in 0..<200 {
            if try replica.gateway.fetch().status == 200 { granted += 1 }
            replica.gateway.pass(10)
        }
        // Two seconds at 50/s after the burst.
        #expect((103...106).contains(granted))
        replica.expectQuiet()
    }

    /// The other worker is another replica: it shares nothing but the store.
    @Test func replicasLearnOfEachOthersRequests() throws {
        let replica = try replica("rate: 10/s, burst: 10, sync: 100ms, key: address")
        // As another replica would: the whole burst.
        #expect(try replica.statuses(1) == [200])
        replica.gateway.pass(101)
        let key = try #require(replica.store.charges.first?.key)
        replica.store.charge(key, count: 10, interval: .milliseconds(100))
        #expect(try replica.statuses(1) == [200])
        replica.gateway.pass(101)
        #expect(try replica.statuses(1) == [429], "after the next synchronisation")
        replica.expectQuiet()
    }

    // MARK: Another rate, another clock

    /// The debt of a former rate does not outlive it, neither in the store nor in the process.
    @Test(arguments: [("", 10.0), (", sync: 10ms", 1_000)])
    func aReloadAppliesAnotherRateAtOnce(_ sync: String, _ pause: Double) throws {
        let replica = try replica("rate: 2/d, key: address\(sync)")
        #expect(try replica.statuses(3) == [200, 200, 429])
        replica.gateway.pass(100)
        try replica.gateway.install(text("rate: 100/s, key: address\(sync)"))
        let response = try replica.gateway.fetch()
        #expect(response.status == 429 && response["Retry-After"] == "1")
        replica.gateway.pass(pause)
        #expect(try replica.statuses(1) == [200])
        // What a synchronisation returns is of the new rate, too.
        replica.gateway.pass(2_000)
        #expect(try replica.statuses(1) == [200])
        replica.expectQuiet()
    }

    /// A clock of the store that goes back leaves times that are far ahead.
    @Test func aTimeFarAheadIsCut() throws {
        let replica = try replica("rate: 10/s, burst: 3, key: address")
        #expect(try replica.statuses(1) == [200])
        let key = try #require(replica.store.charges.first?.key)
        replica.store.charge(key, count: 1, interval: .seconds(3_600))
        let response = try replica.gateway.fetch()
        #expect(response.status == 429 && response["Retry-After"] == "1")
        replica.gateway.pass(99)
        #expect(try replica.statuses(1) == [429])
        replica.gateway.pass(1)
        #expect(try replica.statuses(2) == [200, 429])
        replica.expectQuiet()
    }

    /// A wait is at most that of an empty bucket, whatever the store replies.
    @Test(arguments: [Int64.max, 1 << 52])
    func aReplyFarAheadIsCut(_ ahead: Int64) throws {
        let replica = try replica("rate: 10/s, burst: 30, key: address")
        #expect(try replica.statuses(1) == [200])
        replica.store.set(.refuses(ahead: ahead))
        let response = try replica.gateway.fetch()
        #expect(response.status == 429 && response["Retry-After"] == "1")
        #expect(response["RateLimit"] == #""it";r=0;t=1"#)
        replica.expectQuiet()
    }

    // MARK: Reload and end

    /// Counters never decrease, and the last line about the store is its state.
    @Test func aReloadWithAnotherStoreContinuesCountersAndLog() throws {
        let replica = try replica("rate: 100/s, key: address")
        #expect(try replica.statuses(3) == [200, 200, 200])
        replica.store.kill()
        #expect(try replica.statuses(1) == [200])
        let counts = {
            try #require(replica.gateway.instance?.snapshot.store).counts
        }
        #expect(try counts().decided == 3)
        let failed = try counts().failed
        try replica.store.start()
        try replica.gateway.install(text("rate: 100/s, key: address", store: "/3"))
        replica.gateway.pass(1)
        #expect(try counts().decided == 3)
        #expect(try counts().failed == failed)
        #expect(try replica.statuses(1) == [200])
        #expect(try counts().decided == 4)
        let lines = replica.gateway.logged.filter { $0.contains(#""msg":"store "#) }
        #expect(lines.count == 2)
        #expect(lines.last?.contains(#""msg":"store up","url":"redis://127.0.0.1:6379/3""#) == true)
        // The positive control: a store that was never down is not reported.
        try replica.gateway.install(text("rate: 100/s, key: address", store: "/4"))
        replica.gateway.pass(1)
        #expect(try replica.statuses(1) == [200])
        #expect(replica.gateway.logged.count { $0.contains(#""msg":"store "#) } == 2)
        replica.expectQuiet()
    }

    @Test func aReloadKeepsTheConnection() throws {
        let replica = try replica("rate: 1/m, burst: 3, key: address")
        #expect(try replica.statuses(1) == [200])
        let commands = replica.store.commands
        try replica.gateway.install(text("rate: 1/m, burst: 3, key: address"))
        #expect(try replica.statuses(3) == [200, 200, 429])
        #expect(replica.store.commands == commands + 3)
        replica.expectQuiet()
    }

    @Test func aReloadWithAnotherStoreDecidesWaitingRequestsLocally() throws {
        let replica = try replica("rate: 10/s, key: address")
        replica.store.set(.frozen)
        let client = try replica.gateway.send(get())
        replica.gateway.pass(10)
        try replica.gateway.install(GatewayHarness.text(GatewayHarness.oneCall))
        replica.gateway.pass(1)
        #expect(client.responses.map(\.status) == [200])
        replica.expectQuiet()
    }

    /// A request of the former plan refunds a charge when the former store is closed.
    @Test func aReloadWithAnotherStoreDropsALaterRefund() throws {
        let replica = try replica(
            "rate: 1/s, burst: 2, sync: 100ms, key: address", "route: POST /x",
            others: #", late: { rate: 1/h, key: "{request.body.k}" }"#, uses: "[it, late]")
        let text = post(#"{"k":"a"}"#)
        #expect(try replica.statuses(1, text) == [200])
        let client = try replica.gateway.send(String(text.dropLast(3)))
        replica.gateway.pass(10)
        try replica.gateway.install(GatewayHarness.text(GatewayHarness.oneCall))
        client.send(String(text.suffix(3)))
        replica.gateway.pass(1_000)
        #expect(client.responses.map(\.status) == [429])
        #expect(replica.store.charges.isEmpty, "what was not sent is dropped")
        replica.expectQuiet()
    }

    /// The request is charged to a synchronised limit when it gets no verdict about the other one.
    @Test func aReloadWithAnotherStoreDropsALaterCharge() throws {
        let replica = try replica(
            "rate: 100/s, sync: 100ms, key: address",
            others: ", each: { share: store, rate: 10/s, key: address }", uses: "[it, each]")
        replica.store.set(.frozen)
        let client = try replica.gateway.send(get())
        replica.gateway.pass(10)
        try replica.gateway.install(GatewayHarness.text(GatewayHarness.oneCall))
        replica.gateway.pass(1_000)
        #expect(client.responses.map(\.status) == [200])
        replica.expectQuiet()
    }

    @Test func aClientThatLeavesWhileItsRequestWaitsLeavesNothing() throws {
        let replica = try replica("rate: 10/s, key: address")
        replica.store.set(.frozen)
        let client = try replica.gateway.send(get())
        replica.gateway.pass(10)
        client.leave()
        replica.gateway.pass(100)
        #expect(replica.gateway.seen.isEmpty)
        replica.expectQuiet()
    }

    /// `explain` and tools have no store; the limit counts in the process.
    @Test func withoutALimitThatUsesItTheStoreIsNotConnected() throws {
        let gateway = try GatewayHarness(
            GatewayHarness.oneCall, top: "store: { url: redis://127.0.0.1 }")
        let store = SimulatedStore(on: gateway.outside, at: Self.address)
        try store.start()
        gateway.pass(1_000)
        #expect(try gateway.fetch().status == 200)
        #expect(store.commands == 0)
        store.kill()
        gateway.expectQuiet()
    }

    @Test func metricsShowTheStateOfTheStore() throws {
        let replica = try replica("rate: 100/s, key: address")
        #expect(try replica.statuses(2) == [200, 200])
        let state = { try #require(replica.gateway.instance?.snapshot.store) }
        #expect(try state().isUp)
        #expect(try state().counts.decided == 2)
        replica.store.set(.frozen)
        #expect(try replica.statuses(3) == [200, 200, 200])
        #expect(try state().isUp == false)
        #expect(try state().counts.failed == 3)
        replica.expectQuiet()
    }
}
