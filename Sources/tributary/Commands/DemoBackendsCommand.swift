import ArgumentParser
import Process
import Reactor
import System
import UVReactor

/// `tributary demo-backends`
struct DemoBackendsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-backends",
        abstract: "Run only the demo's backends, to be called by your own configuration.",
        discussion: """
            Runs catalog, stock (every third response is a 500), reviews (every other response takes \
            a second) and users, each on its own port, until SIGINT or SIGTERM.

            EXAMPLES
              tributary demo-backends                 on 127.0.0.1:7001 to 7004
              tributary demo-backends --port 9000     on 127.0.0.1:9000 to 9003
              tributary demo-backends --host 0.0.0.0  reachable from other containers
            """)

    @Option(help: "IP address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "First port; 0 lets the system choose all ports.")
    var port: UInt16 = 7001

    func validate() throws {
        guard IPAddress(host) != nil else {
            throw ValidationError("--host is an IP address such as 0.0.0.0 or ::1: \(host)")
        }
        guard port <= UInt16.max - 8 else {
            throw ValidationError("--port must be at most \(UInt16.max - 8)")
        }
    }

    func run() throws {
        var failure: StartFailure?
        _ = try UVLoop.run { loop in
            do throws(StartFailure) {
                // Checked by `validate`.
                let host = IPAddress(host) ?? .v4(0x7F00_0001)
                let demo = try Demo(on: loop, host: host, firstPort: port)
                try SignalHandling(of: demo, on: loop).start()
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

    /// Stops the loop at the first SIGINT or SIGTERM; the signal sources retain it until then.
    private final class SignalHandling {
        private let demo: Demo
        private let loop: UVLoop
        private var signals: [SignalSource] = []

        init(of demo: Demo, on loop: UVLoop) {
            self.demo = demo
            self.loop = loop
        }

        func start() throws(StartFailure) {
            do {
                for signal in [Signal.interrupt, .terminate] {
                    signals.append(try SignalSource(signal, on: loop) { [self] in stop() })
                }
            } catch {
                throw StartFailure(error)
            }
        }

        private func stop() {
            demo.close()
            let sources = signals
            signals = []
            for source in sources { source.close() }
            loop.stop()
        }
    }
}
