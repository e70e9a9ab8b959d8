import Foundation

/// A blocking socket with a limit on every wait. Dropping it closes it.
final class Socket: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
    }

    let descriptor: Int32

    init(_ descriptor: Int32) throws {
        guard descriptor >= 0 else { throw Failure("socket") }
        self.descriptor = descriptor
        // A child process that inherits a descriptor would keep its connection open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: Int(Limit.seconds), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(
                descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(descriptor) }

    // MARK: Addresses

    /// `127.0.0.1:8080` or `unix:/path`, as in the log.
    convenience init(connectedTo address: String) throws {
        if address.hasPrefix("unix:") {
            try self.init(systemSocket(AF_UNIX))
            try Self.unix(String(address.dropFirst(5))) { address, length in
                guard connect(descriptor, address, length) == 0 else { throw Failure("connect") }
            }
            return
        }
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw Failure(address)
        }
        try self.init(systemSocket(AF_INET))
        try Self.loopback(port) { address, length in
            guard connect(descriptor, address, length) == 0 else { throw Failure("connect") }
        }
    }

    /// Listens on a port of loopback; 0 lets the system choose.
    convenience init(listeningOn port: UInt16) throws {
        try self.init(systemSocket(AF_INET))
        try Self.loopback(port) { address, length in
            guard bind(descriptor, address, length) == 0 else { throw Failure("bind") }
        }
        guard listen(descriptor, 64) == 0 else { throw Failure("listen") }
    }

    /// Listens at a path.
    convenience init(listeningAtPath path: String) throws {
        try self.init(systemSocket(AF_UNIX))
        try Self.unix(path) { address, length in
            guard bind(descriptor, address, length) == 0 else { throw Failure("bind") }
        }
        guard listen(descriptor, 64) == 0 else { throw Failure("listen") }
    }

    var port: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func loopback(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func unix(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    // MARK: Bytes

    /// The next connection; nil when the listener was shut down.
    func accepted() -> Socket? {
        while true {
            let connection = accept(descriptor, nil, nil)
            if connection >= 0 { return try? Socket(connection) }
            guard errno == EINTR || errno == EAGAIN else { return nil }
        }
    }

    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure("send") }
            rest = rest.dropFirst(count)
        }
    }

    /// Some bytes; none at the end of the stream.
    func receive() throws -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count >= 0 else { throw Failure("receive") }
        return Array(chunk[..<count])
    }

    /// Shuts down both directions; waiting calls of `accepted` and `receive` return.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

private func systemSocket(_ family: Int32) -> Int32 {
    #if os(Linux)
        socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
        socket(family, SOCK_STREAM, 0)
    #endif
}
