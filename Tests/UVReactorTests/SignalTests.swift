import Foundation
import Reactor
import Testing
import UVReactor

@Suite(.serialized, .timeLimit(.minutes(5))) struct SignalTests {
    @Test(arguments: Signal.allCases)
    func signalCallsTheActionOnTheLoop(_ signal: Signal) throws {
        try onLoop { loop in
            var source: SignalSource?
            var count = 0
            source = try SignalSource(signal, on: loop) {
                count += 1
                if count == 1 {
                    kill(getpid(), signal.number)
                } else {
                    source?.close()
                    loop.stop()
                }
            }
            kill(getpid(), signal.number)
        }
    }

    @Test func reportsASourceThatIsNotClosed() throws {
        var source: SignalSource?
        let left = try UVLoop.run { loop in
            source = try SignalSource(.hangUp, on: loop) {}
            loop.stop()
        }
        #expect(left == ["SignalSource"] && source != nil)
    }
}
