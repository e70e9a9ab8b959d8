import Basics
import CUV
import Promises
import Reactor

/// The host names of one process: one table for all its loops, one thread for each look-up that runs.
///
/// Made once per process and passed to its loops; a lock guards the table, which a loop needs only
/// when it makes a connection. libuv's own look-ups do not serve here: two that hang block all others
/// of the process, and its threads have to end before the process can.
package final class NameService: Sendable {
    private let table = Guarded(NameTable<Port>())
    private let lookUp: NameLookUp.Function

    package init(lookUp: @escaping NameLookUp.Function = NameLookUp.system) {
        self.lookUp = lookUp
    }

    /// Names that are kept.
    package var count: Int { table.withLock { $0.count } }

    func hold(_ host: String) { table.withLock { $0.hold(host) } }

    func release(_ host: String) { table.withLock { $0.release(host) } }

    func request(
        _ host: String, maxAge: Duration, for port: Port?, at now: Instant
    ) -> NameAnswer {
        let (answer, mustStart) = table.withLock {
            $0.request(host, maxAge: maxAge, for: port, at: now)
        }
        if mustStart { start(host) }
        return answer
    }

    func suspect(_ host: String, at now: Instant) { table.withLock { $0.suspect(host, at: now) } }

    /// Starts the look-up of a name; where the system has no thread left, it fails, and the next
    /// name in the queue is tried.
    private func start(_ host: String) {
        var waiting: String? = host
        while let host = waiting {
            let code = NameLookUp.start(host, by: lookUp) { [self] result in
                if let next = finished(host, result) { start(next) }
            }
            waiting = code < 0 ? finished(host, .failure(IOFailure(uv: code))) : nil
        }
    }

    /// Publishes a result to the loops that wait for it; returns the next name to look up.
    private func finished(_ host: String, _ result: Result<[IPAddress], IOFailure>) -> String? {
        let now = Instant(nanoseconds: Int64(clamping: uv_hrtime()))
        let publication = table.withLock { $0.finished(host, result, at: now) }
        let published = publication.result
        for port in publication.subscribers {
            port.post { loop in loop.names?.publish(host, published) }
        }
        return publication.next
    }
}

/// The way from one loop to the names of its process.
final class UVNames: NameSource {
    private let service: NameService
    private let port: Port

    init(_ service: NameService, of port: Port) {
        self.service = service
        self.port = port
    }

    func hold(_ host: String) { service.hold(host) }

    func release(_ host: String) { service.release(host) }

    func request(
        _ host: String, maxAge: Duration, publishes: Bool, at now: Instant
    ) -> NameAnswer {
        service.request(host, maxAge: maxAge, for: publishes ? port : nil, at: now)
    }

    func suspect(_ host: String, at now: Instant) { service.suspect(host, at: now) }
}
