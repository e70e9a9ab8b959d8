import Foundation

/// The notify socket of a service manager: receives datagrams on a thread of its own.
final class NotifyReceiver: @unchecked Sendable {
    // Guarded by `changed`.
    private var received: [String] = []
    private let changed = NSCondition()
    private let socket: Socket

    /// - Parameter name: a path, or `@` and an abstract name
    init(_ name: String) throws {
        let socket = try Socket(datagramSocket())
        self.socket = socket
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = name.hasPrefix("@")
        var bytes = Array(name.utf8)
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.descriptor, $0, length)
            }
        }
        guard code == 0 else { throw Socket.Failure("bind") }
        Thread.detachNewThread { [self] in
            while let bytes = try? socket.receive(), !bytes.isEmpty {
                changed.withLock {
                    received.append(String(decoding: bytes, as: UTF8.self))
                    changed.broadcast()
                }
            }
        }
    }

    deinit { socket.shutDown() }

    /// All messages until now.
    var messages: [String] { changed.withLock { received } }

    /// Waits for a message that begins so, the first one or the one with such a number among them.
    @discardableResult
    func message(_ prefix: String, number: Int = 1) throws -> String {
        let limit = Limit.date
        changed.lock()
        defer { changed.unlock() }
        while true {
            let found = received.filter { $0.hasPrefix(prefix) }
            if found.count >= number { return found[number - 1] }
            guard changed.wait(until: limit) else {
                throw Limit.Passed("message '\(prefix)' number \(number): \(received)")
            }
        }
    }
}

private func datagramSocket() -> Int32 {
    #if os(Linux)
        socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    #else
        socket(AF_UNIX, SOCK_DGRAM, 0)
    #endif
}
