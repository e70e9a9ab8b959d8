import Reactor
import UVReactor

/// Passes the signals of the process to the control loop, until `close`.
final class ProcessSignals {
    private var sources: [SignalSource] = []

    init(on loop: UVLoop, _ handle: @escaping (Signal) -> Void) throws(IOFailure) {
        for signal in Signal.allCases {
            sources.append(try SignalSource(signal, on: loop) { handle(signal) })
        }
    }

    func close() { sources = [] }
}
