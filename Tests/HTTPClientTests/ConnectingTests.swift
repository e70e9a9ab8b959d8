import Basics
import HTTP
import Reactor
import SimReactor
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
        (.outOfDescriptors, "connectionRefused"),
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
        #expect(scene.outcome() == "200 /", "a failure is not remembered")
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
}
