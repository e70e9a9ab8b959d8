import Reactor

/// The open listeners of a server. Listeners with TLS are paused while the limit of handshakes is reached.
///
/// The server owns it. Confined to the loop's thread.
final class Listeners {
    private struct OpenListener {
        let listener: any Listener
        let number: Int
    }

    private var open: [OpenListener] = []
    /// By the number of the listener.
    private var haveTLS: [Bool]
    private var pausesSecure = false

    init(haveTLS: [Bool]) {
        self.haveTLS = haveTLS
    }

    func add(_ listener: any Listener, as number: Int) {
        open.append(OpenListener(listener: listener, number: number))
        if pausesSecure, hasTLS(number) { listener.pause() }
    }

    /// After a reload: one that has TLS no more must not stay paused.
    func adopt(haveTLS: [Bool]) {
        if pausesSecure { setSecure(paused: false) }
        self.haveTLS = haveTLS
        if pausesSecure { setSecure(paused: true) }
    }

    /// Pauses the listeners with TLS, or resumes them.
    func pauseSecure(_ mustPause: Bool) {
        pausesSecure = mustPause
        setSecure(paused: mustPause)
    }

    private func setSecure(paused mustPause: Bool) {
        for entry in open where hasTLS(entry.number) {
            mustPause ? entry.listener.pause() : entry.listener.resume()
        }
    }

    private func hasTLS(_ number: Int) -> Bool {
        haveTLS.indices.contains(number) && haveTLS[number]
    }

    /// Closes all. Closing a listener first accepts its queued connections, except on an inherited socket.
    func close() {
        let closing = open
        open = []
        for entry in closing { entry.listener.close() }
    }
}
