import Glibc

/// The datagram socket of a service manager, by the protocol of sd_notify(3): one message for each
/// datagram, lines of the form `NAME=value`.
///
/// Sending never waits. The socket is opened for each message: messages are rare, and an open
/// descriptor would count towards the limit of the process.
struct NotifySocket: Sendable {
    enum Result: Equatable {
        case sent
        /// The receiver's queue is full; the same message may be sent later.
        case busy
        /// The error number of the system.
        case failed(CInt)
    }

    private let name: String

    /// - Parameter name: a path, or `@` and the name of an abstract socket
    init(_ name: String) {
        self.name = name
    }

    func send(_ message: String) -> Result {
        guard let (found, length) = Self.address(name) else { return .failed(EINVAL) }
        var address = found
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return .failed(errno) }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        let sent = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(
                    descriptor, bytes, bytes.count, flags,
                    address, length)
            }
        }
        if sent >= 0 { return .sent }
        return errno == EAGAIN || errno == ENOBUFS ? .busy : .failed(errno)
    }

    /// Nil for a name that is too long or of another kind, such as `vsock:`.
    private static func address(_ name: String) -> (sockaddr_un, socklen_t)? {
        guard let first = name.first, first == "/" || first == "@" else { return nil }
        var bytes = Array(name.utf8)
        let isAbstract = first == "@"
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let space = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count > 1, bytes.count < space else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        // The name of an abstract socket ends with the length; a path ends with a zero byte.
        let used = bytes.count + (isAbstract ? 0 : 1)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        return (address, socklen_t(offset + used))
    }
}
