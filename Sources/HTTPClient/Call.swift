import Basics
import Promises

/// One `send`, from its beginning to its answer: what is asked, who wants to know, and where the
/// request is by now.
final class Call {
    enum Place {
        /// On its way from one place to another, or at its end.
        case nowhere
        case waiting(WaitQueue<Call>.Ticket)
        /// It has this connection, or a fresh one is being made in its place.
        case lent(ConnectionID)
    }

    let request: ClientRequest
    let pool: Pool
    var place = Place.nowhere

    /// Unchecked: it is taken out before it is used.
    @exclusivity(unchecked) private var resolver: LocalResolver<ClientResponse>?

    init(_ request: ClientRequest, to pool: Pool) {
        self.request = request
        self.pool = pool
    }

    /// The promise of the answer. Asked for once.
    func promise(on core: Core) -> Local<ClientResponse> {
        let resolver = LocalResolver<ClientResponse>(on: core)
        let promise = resolver.promise
        resolver.onCancel { _ in self.pool.cancelled(self) }
        unsafe self.resolver = consume resolver
        return promise
    }

    func answer(_ response: ClientResponse) {
        place = .nowhere
        unsafe resolver.take()?.fulfill(response)
    }

    /// Nobody wants the answer any more.
    func forget() {
        place = .nowhere
        _ = unsafe resolver.take()
    }

    func fail(_ error: any Error) {
        place = .nowhere
        unsafe resolver.take()?.reject(error)
    }
}
