import CUV
package import Reactor

/// A bound socket that belongs to no loop yet, so it can be passed between threads.
///
/// Each loop binds a TCP socket of its own (SO_REUSEPORT). A unix socket is bound once, and every
/// loop gets a `duplicate` of its descriptor. The value owns the descriptor; releasing it closes
/// it.
package struct ListeningSocket: ~Copyable, Sendable {
    let descriptor: CInt

    /// The bound address, with the port that the system chose for port 0.
    package let address: SocketAddress

    /// Whether another process keeps the socket open, so that connections which this process does not
    /// accept can wait for its successor.
    package let isInherited: Bool

    /// The socket file, which is removed with this value; nil for TCP, for a duplicate, and for an
    /// inherited socket.
    private let file: String?

    private init(
        descriptor: CInt, address: SocketAddress, file: String?, isInherited: Bool = false
    ) {
        self.descriptor = descriptor
        self.address = address
        self.file = file
        self.isInherited = isInherited
    }

    deinit {
        if let file { _ = tributary_unlink_socket(file) }
        _ = tributary_close(descriptor)
    }

    /// Binds a socket. With `sharedPort` several sockets may be bound to the same address, if all
    /// request it. The file of a unix socket gets `access` before the socket listens.
    ///
    /// A stale socket file, which a killed process left behind, is replaced.
    package static func bound(
        to address: SocketAddress, sharedPort: Bool = false,
        access: SocketFileAccess = SocketFileAccess()
    ) throws(IOFailure) -> ListeningSocket {
        let mode = access.mode.map { CInt($0) } ?? -1
        let code = try address.withSystemAddress { storage, length in
            let code = tributary_bind(storage, length, sharedPort ? 1 : 0, mode)
            guard case .unix(let path) = address, code == UV_EADDRINUSE.rawValue,
                tributary_probe_unix(storage, length) == UV_ECONNREFUSED.rawValue,
                tributary_unlink_socket(path) >= 0
            else { return code }
            return tributary_bind(storage, length, 0, mode)
        }
        let descriptor = try checked(code)
        guard case .unix(let path) = address else {
            guard
                let actual = SocketAddress({ tributary_bound_address(descriptor, $0) })
            else {
                _ = tributary_close(descriptor)
                throw .addressInvalid
            }
            return ListeningSocket(descriptor: descriptor, address: actual, file: nil)
        }
        // From here on, an error closes the socket and removes its file.
        let socket = ListeningSocket(descriptor: descriptor, address: address, file: path)
        try checked(tributary_set_file_access(path, mode, access.group.map { Int64($0) } ?? -1))
        return socket
    }

    /// Whether a process listens on the address. Checked once before several loops share a port,
    /// since sharing would hide it: two daemons would each get a part of the connections.
    package static func isTaken(_ address: SocketAddress) -> Bool {
        do throws(IOFailure) {
            _ = try bound(to: address)
            return false
        } catch {
            return error == .addressInUse
        }
    }

    /// A second descriptor of the same socket, for another loop.
    package func duplicate() throws(IOFailure) -> ListeningSocket {
        let copy = try checked(tributary_duplicate(descriptor))
        return ListeningSocket(
            descriptor: copy, address: address, file: nil, isInherited: isInherited)
    }

    /// Takes over a socket that listens already and that a service manager opened. Throws for a
    /// descriptor that is not a listening stream socket with an internet address or a path.
    package static func inherited(_ descriptor: CInt) throws(IOFailure) -> ListeningSocket {
        try checked(tributary_adopt_listening(descriptor))
        guard let address = SocketAddress(boundBy: descriptor) else { throw .addressInvalid }
        return ListeningSocket(
            descriptor: descriptor, address: address, file: nil, isInherited: true)
    }
}
