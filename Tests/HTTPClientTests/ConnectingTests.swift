import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Names, addresses, and connections that do not come about.
@Suite struct ConnectingTests {
    private let here = IPAddress.v4(0x7F00_0001)
    private let dead = IPAddress.v4(0x7F00_0002)
    private let other = IPAddress.v4(0x7F00_0003)

    /// A backend at `here`, called `backend.test`.
    private func scene(_ answer: SimNetwork.NameAnswer, ttl: Duration = .seconds(30)) throws
        -> Scene
    {
        var settings = PoolSettings()
        settings.dnsTTL = ttl
        let scene = try Scene(host: "backend.test", settings)
        scene.network.names["backend.test"] = answer
        return scene
    }

    private func port7001(_ address: IPAddress) -> SocketAddress { .ip(address, port: 7001) }

    @Test func aRefusalIsToldAtOnce() throws {
        let scene = try Scene()
        scene.backend.close()
        #expect(scene.outcome() == "connectionRefused")
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        scene.expectQuiet()
    }

    @Test func afterARestartTheNextRequestConnects() throws {
        let scene = try Scene()
        scene.network.fates[Scene.address] = .fails(.connectionRefused)
        #expect(scene.outcome() == "connectionRefused")
        scene.network.fates[Scene.address] = nil
        #expect(scene.outcome() == "200 /")
        scene.expectQuiet()
    }

    @Test func silenceEndsAfterTheConnectTimeout() throws {
        var settings = PoolSettings()
        settings.connectTimeout = .milliseconds(250)
        let scene = try Scene(settings)
        scene.network.fates[Scene.address] = .silent
        let sent = scene.send()
        scene.pass(.milliseconds(249))
        #expect(sent.outcome == nil)
        scene.pass(.milliseconds(2))
        #expect(sent.outcome == "connectionTimeout")
        scene.expectQuiet()
    }

    @Test(arguments: [
        (IOFailure.timedOut, "connectionTimeout"), (.unreachable, "connectionRefused"),
        (.outOfDescriptors, "connectionLimit"), (.outOfMemory, "connectionLimit"),
    ])
    func everyFailureToConnectHasAKind(failure: IOFailure, kind: String) throws {
        let scene = try Scene()
        scene.network.fates[Scene.address] = .fails(failure)
        #expect(scene.outcome() == kind)
        scene.expectQuiet()
    }

    @Test func everyWaiterIsToldOfItsOwnFailure() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let scene = try Scene(settings)
        scene.network.fates[Scene.address] = .fails(.connectionRefused)
        let sent = (0..<3).map { _ in scene.send() }
        #expect(
            sent.map { scene.outcome(of: $0) } == Array(repeating: "connectionRefused", count: 3))
        scene.expectQuiet()
    }

    // MARK: Names

    @Test func aNameIsLookedUpOnceForAsLongAsItIsTrusted() throws {
        let scene = try scene(.addresses([here]), ttl: .seconds(30))
        for _ in 0..<3 {
            #expect(scene.outcome() == "200 /")
            for peer in scene.backend.peers { peer.stream.close() }
            scene.pass(.seconds(9))
        }
        #expect(scene.network.lookUps == 1)
        scene.pass(.seconds(9))
        #expect(scene.outcome() == "200 /")
        #expect(scene.network.lookUps == 2)
        scene.expectQuiet()
    }

    @Test(arguments: [IOFailure.hostNotFound, .nameServiceFailed])
    func aNameWithoutAnAnswerIsADNSError(_ failure: IOFailure) throws {
        let scene = try scene(.fails(failure))
        #expect(scene.outcome() == "dnsError")
        scene.network.names["backend.test"] = .addresses([here])
        scene.pass(.seconds(3))
        #expect(scene.outcome() == "200 /", "a failure is forgotten soon")
        scene.expectQuiet()
    }

    @Test func aNameWithoutAddressesIsADNSError() throws {
        let scene = try scene(.addresses([]))
        #expect(scene.outcome() == "dnsError")
        scene.expectQuiet()
    }

    @Test func aNameServiceThatTakesTooLongIsADNSError() throws {
        let scene = try scene(.addresses([here], after: .seconds(5)))
        #expect(scene.outcome() == "dnsError")
        scene.expectQuiet()
    }

    @Test func anAddressThatRefusesIsPassedOver() throws {
        let scene = try scene(.addresses([dead, here]))
        #expect(scene.outcome() == "200 /")
        scene.expectQuiet()
    }

    @Test func anAddressThatIsSilentCostsOnlyItsShareOfTheTime() throws {
        let scene = try scene(.addresses([dead, here]))
        scene.network.fates[port7001(dead)] = .silent
        let sent = scene.send()
        scene.pass(.milliseconds(600))
        #expect(sent.outcome == "200 /")
        for peer in scene.backend.peers { peer.stream.close() }
        scene.pass(.milliseconds(1))
        let next = scene.send()
        scene.pass(.milliseconds(10))
        #expect(next.outcome == "200 /", "it is tried last from now on")
        scene.expectQuiet()
    }

    @Test func whenAllAddressesFailTheNameIsLookedUpAgain() throws {
        let scene = try scene(.addresses([dead, other]))
        #expect(scene.outcome() == "connectionRefused")
        scene.network.names["backend.test"] = .addresses([here])
        #expect(scene.outcome() == "200 /")
        #expect(scene.network.lookUps == 2)
        scene.expectQuiet()
    }

    @Test func allAddressesTogetherHaveNoMoreThanTheConnectTimeout() throws {
        let scene = try scene(.addresses([dead, other, here]))
        for address in [dead, other, here] { scene.network.fates[port7001(address)] = .silent }
        let sent = scene.send()
        scene.pass(.milliseconds(1001))
        #expect(sent.outcome == "connectionTimeout")
        scene.expectQuiet()
    }

    // MARK: Addresses in use

    /// Ends all connections, so that the next request needs a new one.
    private func disconnect(_ scene: Scene) {
        for peer in scene.backend.peers { peer.stream.close() }
        scene.pass(.milliseconds(1))
    }

    @Test(arguments: [(IOFailure.hostNotFound, 3), (.nameServiceFailed, 1)])
    func missingNameCausesNoLookUpPerRequest(failure: IOFailure, seconds: Int) throws {
        let scene = try scene(.fails(failure))
        for second in 0..<seconds {
            for _ in 0..<5 {
                let sent = scene.send()
                scene.pass(.milliseconds(200))
                #expect(sent.outcome == "dnsError")
            }
            #expect(scene.network.lookUps == 1, "second \(second)")
        }
        scene.pass(.milliseconds(2))  // the first look-up took a millisecond
        let sent = scene.send()
        scene.pass(.milliseconds(200))
        #expect(sent.outcome == "dnsError")
        #expect(scene.network.lookUps == 2)
        scene.expectQuiet()
    }

    @Test func knownAddressesServeWhileNameServiceFails() throws {
        let scene = try scene(.addresses([here]), ttl: .seconds(1))
        #expect(scene.outcome() == "200 /")
        scene.network.names["backend.test"] = .fails(.nameServiceFailed)
        for _ in 0..<5 {
            disconnect(scene)
            scene.pass(.seconds(2))
            #expect(scene.outcome() == "200 /")
        }
        #expect(scene.network.lookUps == 6, "each expiry is a reason to try again")
        scene.expectQuiet()
    }

    @Test func knownAddressesServeWhileLookUpHangs() throws {
        let scene = try scene(.addresses([here]), ttl: .seconds(1))
        #expect(scene.outcome() == "200 /")
        scene.network.names["backend.test"] = .hangs(.seconds(600))
        disconnect(scene)
        scene.pass(.seconds(2))
        let first = scene.send()
        scene.pass(.milliseconds(240))
        #expect(first.outcome == nil, "new addresses may still come")
        scene.pass(.milliseconds(20))
        #expect(first.outcome == "200 /")
        for _ in 0..<3 {
            disconnect(scene)
            let next = scene.send()
            scene.pass(.milliseconds(2))
            #expect(next.outcome == "200 /", "a look-up that hangs already is not waited for")
        }
        #expect(scene.network.lookUps == 2, "never a second one beside one that runs")
        scene.expectQuiet()
    }

    @Test func nameThatDoesNotExistAnyMoreHasNoAddresses() throws {
        let scene = try scene(.addresses([here]), ttl: .seconds(1))
        #expect(scene.outcome() == "200 /")
        scene.network.names["backend.test"] = .fails(.hostNotFound)
        disconnect(scene)
        scene.pass(.seconds(2))
        #expect(scene.outcome() == "dnsError")
        scene.expectQuiet()
    }

    @Test func hangingNamesDoNotDelayOtherNames() throws {
        let scene = try scene(.addresses([here]))
        let pools = (0..<40).map { number in
            scene.network.names["dead\(number).test"] = .hangs(.seconds(600))
            return Pool(
                origin: Origin(host: "dead\(number).test", port: 7001), settings: PoolSettings(),
                loop: scene.loop)
        }
        let requests = pools.map { pool in
            Sent(
                pool.send(
                    ClientRequest()))
        }
        let sent = scene.send()
        scene.pass(.milliseconds(10))
        #expect(sent.outcome == "200 /")
        scene.pass(.seconds(1))
        #expect(requests.allSatisfy { $0.outcome == "dnsError" })
        for pool in pools { pool.close() }
        scene.expectQuiet()
    }

    @Test func usedNameIsRefreshedBeforeItExpires() throws {
        let scene = try scene(.addresses([here]), ttl: .seconds(40))
        #expect(scene.outcome() == "200 /")
        scene.pass(.seconds(19))
        #expect(scene.network.lookUps == 1)
        scene.network.names["backend.test"] = .addresses([other], after: .milliseconds(200))
        scene.pass(.seconds(12))
        #expect(scene.network.lookUps == 2, "between 1/2 and 3/4 of the time to live")
        scene.network.names["backend.test"] = .hangs(.seconds(600))
        scene.network.fates[port7001(other)] = .fails(.unreachable)
        disconnect(scene)
        let sent = scene.send()
        scene.pass(.milliseconds(5))
        #expect(sent.outcome == "connectionRefused", "the new address is used, at once")
        scene.expectQuiet()
    }

    @Test func unusedNameIsNotRefreshed() throws {
        let scene = try scene(.addresses([here]), ttl: .seconds(4))
        #expect(scene.outcome() == "200 /")
        disconnect(scene)
        scene.pass(.seconds(60))
        #expect(scene.network.lookUps == 1)
        #expect(scene.loop.pendingTimers == 0)
        scene.expectQuiet()
    }

    @Test func poolsOfOneProcessShareLookUpsAndAddresses() throws {
        let scene = try scene(.addresses([here], after: .milliseconds(20)))
        let worker = scene.network.makeLoop("second worker")
        let pool = Pool(
            origin: Origin(host: "backend.test", port: 7001), settings: PoolSettings(),
            loop: worker)
        let request = ClientRequest()
        let sent = [scene.send(), Sent(pool.send(request))]
        scene.pass(.milliseconds(30))
        #expect(sent.map(\.outcome) == ["200 /", "200 /"])
        #expect(scene.network.lookUps == 1)
        pool.close()
        scene.expectQuiet()
    }

    @Test func addressesStayKnownWhileAnyPoolUsesTheName() throws {
        let scene = try scene(.addresses([here]))
        func pool(_ settings: PoolSettings) -> Pool {
            Pool(
                origin: Origin(host: "backend.test", port: 7001), settings: settings,
                loop: scene.loop)
        }
        var settings = PoolSettings()
        settings.maxIdle = 1
        #expect(scene.outcome() == "200 /")
        scene.network.names["backend.test"] = .hangs(.seconds(600))
        // As after a reload: another pool for the same name.
        let successor = pool(settings)
        let sent = Sent(
            successor.send(
                ClientRequest()))
        scene.pass(.milliseconds(5))
        #expect(sent.outcome == "200 /")
        #expect(scene.network.lookUps == 1)
        successor.close()
        scene.expectQuiet()
    }
}
