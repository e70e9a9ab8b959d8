import Foundation

/// A backend in the test process. It responds at once, except for targets that begin with `/held`,
/// which wait for `release`.
final class Backend: Sendable {
    private let listener: Socket
    private let arrived = Event()
    private let released = Event()

    init() throws {
        let listener = try Socket(listeningOn: 0)
        self.listener = listener
        Thread.detachNewThread { [arrived, released] in
            while let connection = listener.accepted() {
                Thread.detachNewThread { Self.serve(connection, arrived, released) }
            }
        }
    }

    deinit { listener.shutDown() }

    var url: String { "http://127.0.0.1:\(listener.port)" }

    /// Waits until a held request has arrived.
    func awaitHeld() throws { try arrived.wait(for: "a request at the backend") }

    /// Responds to one held request.
    func release() { released.signal() }

    private static func serve(_ connection: Socket, _ arrived: Event, _ released: Event) {
        var rest: [UInt8] = []
        while let request = try? Message(from: connection, kept: &rest) {
            if request.target.hasPrefix("/held") {
                arrived.signal()
                guard (try? released.wait(for: "the test")) != nil else { return }
            }
            let body = #"{"asked":"\#(request.target)"}"#
            let response =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            guard (try? connection.send(response)) != nil else { return }
        }
    }
}
