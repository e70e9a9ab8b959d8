import Gateway
import Glibc
import UVReactor

/// The permissions of a unix socket's file.
extension SocketPlan {
    /// The permissions of the socket's file, with the group's name looked up.
    func access() throws(StartFailure) -> SocketFileAccess {
        guard let group else { return SocketFileAccess(mode: mode) }
        guard let number = Self.number(group) ?? SystemGroups.number(of: group) else {
            throw .group(group)
        }
        return SocketFileAccess(mode: mode, group: number)
    }

    /// A group's number: digits only. The largest number is refused: for `chown` it means no
    /// change.
    private static func number(_ group: String) -> UInt32? {
        guard group.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(group).flatMap { $0 == .max ? nil : $0 }
    }
}

/// The group database of the system.
enum SystemGroups {
    /// The record contains the names of all members, so a large group needs a large buffer.
    private static let recordBytesMax = 1 << 20

    /// The number of a group; nil if there is no such group.
    static func number(of name: String) -> UInt32? {
        var record = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var memory = [CChar](repeating: 0, count: 1 << 10)
        while true {
            let code = unsafe getgrnam_r(name, &record, &memory, memory.count, &found)
            if code == EINTR { continue }
            guard code == ERANGE, memory.count < recordBytesMax else { break }
            memory = [CChar](repeating: 0, count: memory.count * 4)
        }
        return unsafe found?.pointee.gr_gid
    }
}
