import CUV
import Reactor

extension IPAddress {
    /// The system's address family of this version.
    var systemFamily: CInt {
        switch self {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }
}

extension SocketAddress {
    /// Calls `body` with the address as a `sockaddr`.
    func withSystemAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(IOFailure) -> Result {
        var storage = sockaddr_storage()
        let length = fill(&storage)
        guard length > 0 else { throw .addressInvalid }
        return withUnsafeMutablePointer(to: &storage) { storage in
            body(storage.cast(to: sockaddr.self), length)
        }
    }

    private func fill(_ storage: inout sockaddr_storage) -> socklen_t {
        switch self {
        case .ip(.v4(let bits), let port): tributary_address_v4(&storage, bits, port)
        case .ip(.v6(let high, let low), let port): tributary_address_v6(&storage, high, low, port)
        case .unix(let path): tributary_address_unix(&storage, path, path.utf8.count)
        }
    }

    /// Reads a `sockaddr`; nil for anything but an internet address.
    init?(_ address: UnsafePointer<sockaddr>) {
        guard let host = IPAddress(address) else { return nil }
        self = .ip(host, port: tributary_address_port(address))
    }

    /// Reads the system address that `write` fills in.
    init?(_ write: (UnsafeMutablePointer<sockaddr_storage>) -> CInt) {
        var storage = sockaddr_storage()
        guard write(&storage) >= 0 else { return nil }
        let address = withUnsafeMutablePointer(to: &storage) { storage in
            SocketAddress(storage.cast(to: sockaddr.self))
        }
        guard let address else { return nil }
        self = address
    }

    /// The address that a socket is bound to, internet or unix; nil for one without a name.
    init?(boundBy descriptor: CInt) {
        var storage = sockaddr_storage()
        guard tributary_bound_address(descriptor, &storage) >= 0 else { return nil }
        guard storage.ss_family == sa_family_t(AF_UNIX) else {
            self.init { tributary_bound_address(descriptor, $0) }
            return
        }
        let path = String(cString: tributary_address_path(&storage))
        guard !path.isEmpty else { return nil }
        self = .unix(path: path)
    }

    /// The address as IPv4 if it is an IPv4 client on a dual-stack socket.
    var unmapped: SocketAddress {
        guard case .ip(.v6(0, let low), let port) = self, low >> 32 == 0xFFFF else { return self }
        return .ip(.v4(UInt32(truncatingIfNeeded: low)), port: port)
    }
}

extension IPAddress {
    /// Reads a `sockaddr`; nil for anything but an internet address.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            self = .v4(tributary_address_v4_bits(address))
        case AF_INET6:
            self = .v6(tributary_address_v6_half(address, 0), tributary_address_v6_half(address, 1))
        default:
            return nil
        }
    }
}
