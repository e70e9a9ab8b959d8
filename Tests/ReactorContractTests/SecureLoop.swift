import Basics
import Promises
import Reactor
import TLS
import TestCertificates

/// A loop whose connections all have TLS over them.
final class SecureLoop: Loop {
    private let base: any Loop
    private let client: TLSClientContext
    private let server: TLSServerContext

    init(_ base: any Loop) throws {
        self.base = base
        client = try Certificates.trusting()
        server = try Certificates.server()
    }

    var now: Instant { base.now }
    var exactNow: Instant { base.exactNow }
    var unixTime: Int64 { base.unixTime }
    var local: LocalContext { base.local }
    var entropy: Entropy { base.entropy }
    var descriptors: LoopDescriptors { base.descriptors }
    var iterations: LoopIterations { base.iterations }
    var memory: LoopMemory { base.memory }

    func timer(after delay: Duration, _ action: @escaping () -> Void) -> Reactor.Timer {
        base.timer(after: delay, action)
    }

    func connect(to address: SocketAddress) -> LocalPromise<any ByteStream> {
        let host = if case .ip(let address, _) = address { "\(address)" } else { "backend.test" }
        return base.connect(to: address).then { [client, base] stream in
            client.security.secure(stream, host, base)
        }
    }

    func listen(
        on address: SocketAddress, sharedPort: Bool, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener {
        try base.listen(on: address, sharedPort: sharedPort) { [server, base] stream in
            server.accept(stream, on: base).whenSettled { result in
                if case .success(let stream) = result { accept(stream) }
            }
        }
    }

    var names: NameResolver? { base.names }
}
