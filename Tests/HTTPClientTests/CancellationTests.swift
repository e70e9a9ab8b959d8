import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A request that nobody wants any more ends at once, wherever it is, and leaves nothing behind.
@Suite struct CancellationTests {
    /// Every moment from the first packet to after the answer, cancelled there.
    @Test(arguments: 0...14)
    func mayHappenAtAnyMoment(event: Int) throws {
        let scene = try Scene()
        scene.network.settings.split = .sizes([20])
        let sent = scene.send(.get, "/a")
        for _ in 0..<event { scene.network.step() }
        let before = sent.outcome
        sent.cancel()
        scene.pass(.seconds(1))
        #expect(sent.outcome == before ?? "Cancelled")
        #expect(scene.pool.inFlight == 0)
        #expect(scene.outcome(.get, "/b") == "200 /b")
        scene.expectQuiet()
    }

    @Test func aConnectionWhoseRequestWasCancelledIsNeverUsedAgain() throws {
        let scene = try Scene { asked in if asked.path != "/slow" { asked.answer(asked.path) } }
        #expect(scene.outcome(.get, "/a") == "200 /a")
        let slow = scene.send(.get, "/slow")
        scene.pass(.milliseconds(10))
        slow.cancel()
        #expect(scene.outcome(.get, "/b") == "200 /b")
        #expect(scene.backend.log == ["1.1 /a", "1.2 /slow", "2.1 /b"])
        scene.pass(.milliseconds(1))
        #expect(scene.backend.peers.map(\.hasEnded) == [true, false])
        scene.expectQuiet()
    }

    @Test func givesUpAConnectionThatIsBeingMade() throws {
        let scene = try Scene()
        scene.network.fates[Scene.address] = .silent
        let sent = scene.send()
        scene.pass(.milliseconds(10))
        #expect(scene.pool.connections == 1)
        sent.cancel()
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        #expect(scene.network.leftovers == ["backend: 1 listeners"])
        scene.expectQuiet()
    }

    @Test func leavesTheLine() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let scene = try Scene(settings)
        let sent = ["/a", "/b", "/c"].map { scene.send(.get, $0) }
        sent[1].cancel()
        #expect(scene.outcome(of: sent[2]) == "200 /c")
        #expect(scene.backend.log == ["1.1 /a", "1.2 /c"])
        scene.expectQuiet()
    }

    @Test func givesItsConnectionsPlaceToWhoWaits() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let scene = try Scene(settings) { asked in
            if asked.path != "/slow" { asked.answer(asked.path) }
        }
        let slow = scene.send(.get, "/slow")
        let next = scene.send(.get, "/b")
        scene.pass(.milliseconds(10))
        slow.cancel()
        #expect(scene.outcome(of: next) == "200 /b")
        #expect(scene.backend.log == ["1.1 /slow", "2.1 /b"])
        scene.expectQuiet()
    }

    @Test func givesUpAResend() throws {
        let scene = try Scene { asked in
            if asked.turn == 1 { asked.answer(asked.path) } else { asked.peer.stream.close() }
        }
        #expect(scene.outcome(.get, "/a") == "200 /a")
        scene.network.fates[Scene.address] = .silent
        let sent = scene.send(.get, "/b")
        scene.pass(.milliseconds(10))
        #expect(scene.counts == "1 in flight, 0 idle, 1 open")
        sent.cancel()
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        scene.expectQuiet()
    }

    @Test func givingUpAResendMakesRoomForWhoWaits() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let scene = try Scene(settings) { asked in
            if asked.path == "/broken" {
                asked.peer.stream.close()
            } else {
                asked.answer(asked.path)
            }
        }
        #expect(scene.outcome(.get, "/a") == "200 /a")
        scene.network.fates[Scene.address] = .silent
        let broken = scene.send(.get, "/broken")
        let next = scene.send(.get, "/b")
        scene.pass(.milliseconds(10))
        scene.network.fates[Scene.address] = nil
        broken.cancel()
        #expect(scene.outcome(of: next) == "200 /b")
        #expect(scene.backend.log == ["1.1 /a", "1.2 /broken", "2.1 /b"])
        scene.expectQuiet()
    }

    @Test func aTimeoutIsACancellation() throws {
        let scene = try Scene { _ in }
        let sent = Sent(scene.request().timeout(.milliseconds(300), error: TooSlow()))
        #expect(scene.outcome(of: sent) == "TooSlow")
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        #expect(scene.backend.peers.map(\.hasEnded) == [true])
        scene.expectQuiet()
    }

    private struct TooSlow: Error {}
}
