import ArgumentParser
import UVReactor

/// `tributary demo-backends`
struct DemoBackendsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-backends",
        abstract: "Serve the demo's backends alone, for a configuration of your own to call.",
        discussion: """
            catalog, stock (every third answer is a 500), reviews (every other answer takes a second)
            and users, each on a port of its own. A signal ends them.

            EXAMPLES
              tributary demo-backends              on 127.0.0.1:7001 to 7004
              tributary demo-backends --port 9000  on 127.0.0.1:9000 to 9003
            """)

    @Option(help: "The first port; 0 lets the system choose.")
    var port: UInt16 = 7001

    func validate() throws {
        guard port <= UInt16.max - 8 else {
            throw ValidationError("choose a lower port: \(port)")
        }
    }

    func run() throws {
        var failure: StartFailure?
        _ = try UVLoop.run { loop in
            do throws(StartFailure) {
                let demo = try Demo(on: loop, firstPort: port)
                try Ending(of: demo, on: loop).begin()
                for (name, address) in demo.addresses {
                    let gap = String(repeating: " ", count: max(0, 8 - name.count))
                    StandardStreams.printOut("\(name)\(gap) http://\(address)\n")
                }
            } catch {
                failure = error
                loop.stop()
            }
        }
        if let failure { throw failure }
    }

    /// Ends the loop at the first signal that asks for it; its signals keep it until then.
    private final class Ending {
        private let demo: Demo
        private let loop: UVLoop
        private var signals: [SignalSource] = []

        init(of demo: Demo, on loop: UVLoop) {
            self.demo = demo
            self.loop = loop
        }

        func begin() throws(StartFailure) {
            do {
                for signal in [Signal.interrupt, .terminate] {
                    signals.append(try SignalSource(signal, on: loop) { [self] in end() })
                }
            } catch {
                throw StartFailure(error)
            }
        }

        private func end() {
            demo.close()
            let ended = signals
            signals = []
            for signal in ended { signal.close() }
            loop.stop()
        }
    }
}
