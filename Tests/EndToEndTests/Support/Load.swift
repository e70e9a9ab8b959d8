import Foundation

/// Clients that send requests without a pause, each on a new connection, on threads of their own.
///
/// A new connection for each request, because a client may repeat a request on a connection that was
/// closed while idle, but not one on a connection that was just accepted.
final class Load: @unchecked Sendable {
    // Guarded by `changed`.
    private var successes = 0
    private var errors: [String] = []
    private var isStopping = false
    private var running: Int
    private let changed = NSCondition()

    /// Each client ends after so many requests in any case.
    private static let requestsMax = 20_000

    init(_ address: String, _ request: String, clients: Int) {
        running = clients
        for _ in 0..<clients {
            Thread.detachNewThread { [self] in
                for _ in 0..<Self.requestsMax {
                    if changed.withLock({ isStopping }) { break }
                    record(Result { try Client.request(address, request).status })
                }
                changed.withLock {
                    running -= 1
                    changed.broadcast()
                }
            }
        }
    }

    private func record(_ result: Result<Int, any Error>) {
        changed.withLock {
            switch result {
            case .success(200): successes += 1
            case .success(let status): errors.append("\(status)")
            case .failure(let error): errors.append("\(error)")
            }
            changed.broadcast()
        }
    }

    /// Waits for so many requests from now on, whatever becomes of them.
    func awaitRequests(_ count: Int) throws {
        let goal = changed.withLock { successes + errors.count + count }
        try wait { successes + errors.count >= goal || running == 0 }
    }

    /// Ends the clients.
    func end() throws -> (successes: Int, errors: [String]) {
        changed.withLock { isStopping = true }
        try wait { running == 0 }
        return changed.withLock { (successes, errors) }
    }

    private func wait(until isThere: () -> Bool) throws {
        let limit = Limit.date
        changed.lock()
        defer { changed.unlock() }
        while !isThere() {
            guard changed.wait(until: limit) else { throw Limit.Passed("requests") }
        }
    }
}
