import Promises
import UVReactor

/// The way to a loop on another thread, from the moment when that thread was started: letters that
/// are posted before the loop exists wait here for it.
final class Mailbox: Sendable {
    private struct State {
        var port: Port?
        var waiting: [Port.Letter] = []
    }

    private let state = Guarded(State())

    /// Called on the loop's thread, once.
    func open(_ port: Port) {
        let waiting = state.withLock { state in
            state.port = port
            defer { state.waiting = [] }
            return state.waiting
        }
        for letter in waiting { port.post(letter) }
    }

    /// A letter to a loop that has ended is dropped: there is nobody to read it.
    func post(_ letter: @escaping Port.Letter) {
        let port = state.withLock { state in
            if state.port == nil { state.waiting.append(letter) }
            return state.port
        }
        port?.post(letter)
    }
}
