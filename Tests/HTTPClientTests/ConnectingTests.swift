import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Names, addresses, and failed connection attempts.
@Suite struct ConnectingTests {
    private let here = IPAddress.v4(0x7F00_0001)
    private let dead = IPAddress.v4(0x7F00_0002)
    private let other = IPAddress.v4(0x7F00_0003)

    /// A backend at `here`, called `backend.test`.
    private func harness(_ lookUp: SimNetwork.LookUpOutcome, ttl: Duration = .seconds(30)) throws
        -> PoolHarness
    {
        var settings = PoolSettings()
        settings.dnsTTL = ttl
        let harness = try PoolHarness(host: "backend.test", settings)
        harness.network.names["backend.test"] = lookUp
        return harness
    }

    private func port7001(_ address: IPAddress) -> SocketAddress { .ip(address, port: 7001) }

    @Test func reportsARefusedConnectionAtOnce() throws {
        let harness = try PoolHarness()
        harness.backend.close()
        #expect(harness.outcome() == "connectionRefused")
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func connectsAgainAfterARestartOfTheBackend() throws {
        let harness = try PoolHarness()
        harness.network.connectBehaviors[PoolHarness.address] = .fails(.connectionRefused)
        #expect(harness.outcome() == "connectionRefused")
        harness.network.connectBehaviors[PoolHarness.address] = nil
        #expect(harness.outcome() == "200 /")
        harness.expectQuiet()
    }

    @Test func unansweredAttemptFailsAfterTheConnectTimeout() throws {
        var settings = PoolSettings()
        settings.connectTimeout = .milliseconds(250)
        let harness = try PoolHarness(settings)
        harness.network.connectBehaviors[PoolHarness.address] = .silent
        let sent = harness.send()
        harness.advance(by: .milliseconds(249))
        #expect(sent.outcome == nil)
        harness.advance(by: .milliseconds(2))
        #expect(sent.outcome == "connectionTimeout")
        harness.expectQuiet()
    }

    /// Neither a connection that is being made nor a call that waits for it is an open connection.
    @Test func countsOpenConnectionsOnly() throws {
        let harness = try PoolHarness()
        harness.network.connectBehaviors[PoolHarness.address] = .silent
        let waiting = harness.send()
        harness.advance(by: .milliseconds(10))
        #expect(harness.pool.inFlight == 1 && harness.pool.connections == 1)
        #expect(harness.pool.openConnections == 0)
        waiting.cancel()
        harness.advance(by: .milliseconds(1))
        harness.network.connectBehaviors[PoolHarness.address] = nil
        #expect(harness.outcome() == "200 /")
        #expect(harness.pool.openConnections == 1)
        harness.expectQuiet()
    }

    @Test(arguments: [
        (IOFailure.timedOut, "connectionTimeout"), (.unreachable, "connectionRefused"),
        (.outOfDescriptors, "connectionLimit"), (.outOfMemory, "connectionLimit"),
    ])
    func everyFailureToConnectHasAKind(failure: IOFailure, kind: String) throws {
        let harness = try PoolHarness()
        harness.network.connectBehaviors[PoolHarness.address] = .fails(failure)
        #expect(harness.outcome() == kind)
        harness.expectQuiet()
    }

    @Test func everyWaitingCallGetsItsOwnFailure() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings)
        harness.network.connectBehaviors[PoolHarness.address] = .fails(.connectionRefused)
        let sent = (0..<3).map { _ in harness.send() }
        #expect(
            sent.map { harness.outcome(of: $0) } == Array(repeating: "connectionRefused", count: 3))
        harness.expectQuiet()
    }

    // MARK: Names

    @Test func cachesAddressesForTheTimeToLive() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(30))
        #expect(harness.outcome() == "200 /")
        for peer in harness.backend.peers { peer.stream.close() }
        harness.advance(by: .seconds(29))
        #expect(harness.outcome() == "200 /" && harness.network.lookUps == 1)
        for peer in harness.backend.peers { peer.stream.close() }
        harness.advance(by: .seconds(31))
        #expect(harness.outcome() == "200 /" && harness.network.lookUps == 2)
        harness.expectQuiet()
    }

    /// Also where no connection and no call is open at the moment of the refresh.
    @Test func refreshesAddressesOfANameInUse() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(4))
        for second in 1...12 {
            #expect(harness.outcome() == "200 /")
            for peer in harness.backend.peers { peer.stream.close() }
            harness.advance(by: .seconds(1))
            // After a half to three quarters of the time.
            #expect(harness.network.lookUps >= 1 + second / 3, "after \(second) s")
        }
        let lookUps = harness.network.lookUps
        harness.advance(by: .seconds(60))
        #expect(harness.network.lookUps <= lookUps + 1, "no call uses it any more")
        harness.expectQuiet()
    }

    @Test(arguments: [IOFailure.hostNotFound, .nameServiceFailed])
    func failedLookUpIsADNSError(_ failure: IOFailure) throws {
        let harness = try harness(.fails(failure))
        #expect(harness.outcome() == "dnsError")
        harness.network.names["backend.test"] = .addresses([here])
        harness.advance(by: .seconds(3))
        #expect(harness.outcome() == "200 /", "a failure is forgotten soon")
        harness.expectQuiet()
    }

    @Test func nameWithoutAddressesIsADNSError() throws {
        let harness = try harness(.addresses([]))
        #expect(harness.outcome() == "dnsError")
        harness.expectQuiet()
    }

    @Test func slowLookUpIsADNSError() throws {
        let harness = try harness(.addresses([here], after: .seconds(5)))
        #expect(harness.outcome() == "dnsError")
        harness.expectQuiet()
    }

    @Test func triesTheNextAddressAfterARefusal() throws {
        let harness = try harness(.addresses([dead, here]))
        #expect(harness.outcome() == "200 /")
        harness.expectQuiet()
    }

    @Test func silentAddressUsesOnlyItsShareOfTheTimeout() throws {
        let harness = try harness(.addresses([dead, here]))
        harness.network.connectBehaviors[port7001(dead)] = .silent
        let sent = harness.send()
        harness.advance(by: .milliseconds(600))
        #expect(sent.outcome == "200 /")
        for peer in harness.backend.peers { peer.stream.close() }
        harness.advance(by: .milliseconds(1))
        let next = harness.send()
        harness.advance(by: .milliseconds(10))
        #expect(next.outcome == "200 /", "it is tried last from now on")
        harness.expectQuiet()
    }

    @Test func looksTheNameUpAgainWhenAllAddressesFail() throws {
        let harness = try harness(.addresses([dead, other]))
        #expect(harness.outcome() == "connectionRefused")
        harness.network.names["backend.test"] = .addresses([here])
        #expect(harness.outcome() == "200 /")
        #expect(harness.network.lookUps == 2)
        harness.expectQuiet()
    }

    @Test func allAddressesTogetherTakeAtMostTheConnectTimeout() throws {
        let harness = try harness(.addresses([dead, other, here]))
        for address in [dead, other, here] {
            harness.network.connectBehaviors[port7001(address)] = .silent
        }
        let sent = harness.send()
        harness.advance(by: .milliseconds(1001))
        #expect(sent.outcome == "connectionTimeout")
        harness.expectQuiet()
    }

    // MARK: Addresses in use

    /// Ends all connections, so that the next request needs a new one.
    private func disconnect(_ harness: PoolHarness) {
        for peer in harness.backend.peers { peer.stream.close() }
        harness.advance(by: .milliseconds(1))
    }

    @Test(arguments: [(IOFailure.hostNotFound, 3), (.nameServiceFailed, 1)])
    func missingNameCausesNoLookUpPerRequest(failure: IOFailure, seconds: Int) throws {
        let harness = try harness(.fails(failure))
        for second in 0..<seconds {
            for _ in 0..<5 {
                let sent = harness.send()
                harness.advance(by: .milliseconds(200))
                #expect(sent.outcome == "dnsError")
            }
            #expect(harness.network.lookUps == 1, "second \(second)")
        }
        harness.advance(by: .milliseconds(2))  // the first look-up took a millisecond
        let sent = harness.send()
        harness.advance(by: .milliseconds(200))
        #expect(sent.outcome == "dnsError")
        #expect(harness.network.lookUps == 2)
        harness.expectQuiet()
    }

    @Test func usesCachedAddressesWhileTheNameServiceFails() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(1))
        #expect(harness.outcome() == "200 /")
        harness.network.names["backend.test"] = .fails(.nameServiceFailed)
        for _ in 0..<5 {
            disconnect(harness)
            harness.advance(by: .seconds(2))
            #expect(harness.outcome() == "200 /")
        }
        #expect(harness.network.lookUps == 6, "each expiry is a reason to try again")
        harness.expectQuiet()
    }

    @Test func usesCachedAddressesWhileALookUpHangs() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(1))
        #expect(harness.outcome() == "200 /")
        harness.network.names["backend.test"] = .hangs(.seconds(600))
        disconnect(harness)
        harness.advance(by: .seconds(2))
        let first = harness.send()
        harness.advance(by: .milliseconds(240))
        #expect(first.outcome == nil, "new addresses may still come")
        harness.advance(by: .milliseconds(20))
        #expect(first.outcome == "200 /")
        for _ in 0..<3 {
            disconnect(harness)
            let next = harness.send()
            harness.advance(by: .milliseconds(2))
            #expect(next.outcome == "200 /", "a look-up that hangs already is not waited for")
        }
        #expect(harness.network.lookUps == 2, "never a second one beside one that runs")
        harness.expectQuiet()
    }

    /// A quarter of `connect_timeout`, up to 250 ms.
    @Test(arguments: [(400, 100), (1000, 250), (4000, 250)])
    func waitsForNewAddressesForAPartOfTheConnectTimeout(_ timeout: Int, _ wait: Int) throws {
        var settings = PoolSettings()
        settings.dnsTTL = .seconds(1)
        settings.connectTimeout = .milliseconds(timeout)
        let harness = try PoolHarness(host: "backend.test", settings)
        harness.network.names["backend.test"] = .addresses([here])
        #expect(harness.outcome() == "200 /")
        harness.network.names["backend.test"] = .hangs(.seconds(600))
        disconnect(harness)
        harness.advance(by: .seconds(2))
        let sent = harness.send()
        harness.advance(by: .milliseconds(wait - 5))
        #expect(sent.outcome == nil)
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 /")
        harness.expectQuiet()
    }

    @Test func dropsCachedAddressesOfANameThatNoLongerExists() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(1))
        #expect(harness.outcome() == "200 /")
        harness.network.names["backend.test"] = .fails(.hostNotFound)
        disconnect(harness)
        harness.advance(by: .seconds(2))
        #expect(harness.outcome() == "dnsError")
        harness.expectQuiet()
    }

    @Test func hangingNamesDoNotDelayOtherNames() throws {
        let harness = try harness(.addresses([here]))
        let pools = (0..<40).map { number in
            harness.network.names["dead\(number).test"] = .hangs(.seconds(600))
            return Pool(
                origin: Origin(host: "dead\(number).test", port: 7001), settings: PoolSettings(),
                loop: harness.loop)
        }
        let requests = pools.map { pool in
            SentRequest(
                pool.send(
                    ClientRequest()))
        }
        let sent = harness.send()
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 /")
        harness.advance(by: .seconds(1))
        #expect(requests.allSatisfy { $0.outcome == "dnsError" })
        for pool in pools { pool.close() }
        harness.expectQuiet()
    }

    @Test func usedNameIsRefreshedBeforeItExpires() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(40))
        #expect(harness.outcome() == "200 /")
        harness.advance(by: .seconds(19))
        #expect(harness.network.lookUps == 1)
        harness.network.names["backend.test"] = .addresses([other], after: .milliseconds(200))
        harness.advance(by: .seconds(12))
        #expect(harness.network.lookUps == 2, "between 1/2 and 3/4 of the time to live")
        harness.network.names["backend.test"] = .hangs(.seconds(600))
        harness.network.connectBehaviors[port7001(other)] = .fails(.unreachable)
        disconnect(harness)
        let sent = harness.send()
        harness.advance(by: .milliseconds(5))
        #expect(sent.outcome == "connectionRefused", "the new address is used, at once")
        harness.expectQuiet()
    }

    /// Whenever this pool began to use the name after another pool had looked it up.
    @Test(arguments: [0, 1, 4, 6, 9])
    func refreshFollowsAfterAHalfToThreeQuartersOfTheTTL(_ begin: Int) throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(40))
        let start = harness.loop.now
        let other = Pool(
            origin: Origin(host: "backend.test", port: 7001), settings: PoolSettings(),
            loop: harness.loop)
        let first = SentRequest(other.send(ClientRequest()))
        harness.advance(by: .milliseconds(10))
        #expect(first.outcome == "200 /")
        other.close()
        for second in max(1, begin)...30 {
            harness.advance(by: start + .seconds(second) - harness.loop.now)
            #expect(harness.outcome() == "200 /")
            if second < 20 { #expect(harness.network.lookUps == 1, "after \(second) s") }
        }
        harness.advance(by: .milliseconds(100))
        #expect(harness.network.lookUps == 2)
        harness.expectQuiet()
    }

    @Test func unusedNameIsNotRefreshed() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(4))
        #expect(harness.outcome() == "200 /")
        disconnect(harness)
        harness.advance(by: .seconds(60))
        #expect(harness.network.lookUps == 1)
        #expect(harness.loop.pendingTimers == 0)
        harness.expectQuiet()
    }

    @Test func poolsOfOneProcessShareLookUpsAndAddresses() throws {
        let harness = try harness(.addresses([here], after: .milliseconds(20)))
        let worker = harness.network.makeLoop("second worker")
        let pool = Pool(
            origin: Origin(host: "backend.test", port: 7001), settings: PoolSettings(),
            loop: worker)
        let request = ClientRequest()
        let sent = [harness.send(), SentRequest(pool.send(request))]
        harness.advance(by: .milliseconds(30))
        #expect(sent.map(\.outcome) == ["200 /", "200 /"])
        #expect(harness.network.lookUps == 1)
        pool.close()
        harness.expectQuiet()
    }

    @Test func keepsAddressesWhileAnyPoolUsesTheName() throws {
        let harness = try harness(.addresses([here]))
        func pool(_ settings: PoolSettings) -> Pool {
            Pool(
                origin: Origin(host: "backend.test", port: 7001), settings: settings,
                loop: harness.loop)
        }
        var settings = PoolSettings()
        settings.maxIdle = 1
        #expect(harness.outcome() == "200 /")
        harness.network.names["backend.test"] = .hangs(.seconds(600))
        // As after a reload: another pool for the same name.
        let successor = pool(settings)
        let sent = SentRequest(
            successor.send(
                ClientRequest()))
        harness.advance(by: .milliseconds(5))
        #expect(sent.outcome == "200 /")
        #expect(harness.network.lookUps == 1)
        successor.close()
        harness.expectQuiet()
    }

    // MARK: Several addresses

    @Test func connectionsToAnAddressThatIsGoneAreNotUsed() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(4))
        let second = try ScriptedBackend(on: harness.backendLoop, at: port7001(other)) {
            $0.respond("other")
        }
        harness.network.names["backend.test"] = .addresses([other])
        _ = harness.outcome()
        harness.network.names["backend.test"] = .addresses([here])
        for _ in 0..<8 {
            _ = harness.outcome()
            harness.advance(by: .seconds(1))
        }
        #expect(harness.outcome() == "200 /")
        #expect(second.peers.map(\.hasEnded) == [true])
        // The control: while the name has both, both are used.
        harness.network.names["backend.test"] = .addresses([here, other])
        harness.advance(by: .seconds(8))
        #expect(harness.outcome() == "200 /" && harness.backend.connections == 1)
        second.close()
        harness.expectQuiet()
    }

    @Test func aFailingNameServiceEndsNoConnection() throws {
        let harness = try harness(.addresses([here]), ttl: .seconds(2))
        _ = harness.outcome()
        harness.network.names["backend.test"] = .fails(.hostNotFound)
        for _ in 0..<10 {
            #expect(harness.outcome() == "200 /")
            harness.advance(by: .seconds(1))
        }
        #expect(harness.backend.connections == 1)
        harness.expectQuiet()
    }

    @Test func newConnectionsAreSharedByAllAddresses() throws {
        let harness = try harness(.addresses([here, dead, other]))
        let others = try [dead, other].map { address in
            try ScriptedBackend(on: harness.backendLoop, at: port7001(address)) { $0.respond("/") }
        }
        for sent in (0..<12).map({ _ in harness.send() }) {
            #expect(harness.outcome(of: sent) == "200 /")
        }
        #expect(harness.backend.connections == 4)
        #expect(others.map(\.connections) == [4, 4])
        for other in others { other.close() }
        harness.expectQuiet()
    }
}
