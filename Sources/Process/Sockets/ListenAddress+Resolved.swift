import Gateway
import Promises
import Reactor
import UVReactor

/// The resolution of the host names in listen addresses.
extension Config.ListenAddress {
    /// The address to bind; a host's name is looked up, and its first address is taken. Rejects
    /// with `StartFailure`.
    func resolved(on loop: UVLoop) -> LocalPromise<SocketAddress> {
        switch self {
        case .unix(let path):
            return loop.local.value(.unix(path: path))
        // Where it may be ::1 first, as on most machines, "localhost:8080" would not mean
        // 127.0.0.1.
        case .tcp("localhost", let port):
            return loop.local.value(.ip(.v4(0x7F00_0001), port: port))
        case .tcp(let host, let port):
            return loop.resolve(host).map { addresses in
                guard let first = addresses.first else { throw IOFailure.hostNotFound }
                return .ip(first, port: port)
            }
            .mapError { error in
                (error as? IOFailure).map { StartFailure.host(host, $0) } ?? error
            }
        }
    }
}
