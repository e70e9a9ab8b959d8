import Promises
package import Reactor
package import SimReactor

extension SimLoop {
    /// Connects after a time; passes the connection, or nil if it was refused.
    package func connect(
        to address: SocketAddress, after delay: Duration, _ handle: @escaping (SimStream?) -> Void
    ) {
        timer(after: delay) { [self] in
            connect(to: address).whenSettled { result in
                guard case .success(let stream) = result else { return handle(nil) }
                handle(stream as? SimStream)
            }
        }
    }
}
