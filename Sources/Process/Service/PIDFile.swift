import Glibc

/// A file with the id of this process, which holds a lock on it as long as it runs.
///
/// The lock and not the number decides whether a process runs: the system releases it however the
/// process ends, and a number can belong to another process by then.
package final class PIDFile {
    private let path: String
    private var descriptor: CInt

    /// Writes the file. Called in the process whose id it is to have.
    package init(_ path: String) throws(ServiceFailure) {
        self.path = path
        descriptor = try Self.locked(path)
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0,
            unsafe pwrite(descriptor, text, text.count, 0) == text.count
        else {
            let code = errno
            remove()
            throw .file(path, errno: code)
        }
    }

    deinit { remove() }

    /// Removes the file and releases the lock; later calls do nothing.
    package func remove() {
        guard descriptor >= 0 else { return }
        // Before the lock is released, so that no other process's file is removed.
        unsafe unlink(path)
        close(descriptor)
        descriptor = -1
    }

    private static func locked(_ path: String) throws(ServiceFailure) -> CInt {
        while true {
            let descriptor = unsafe open(
                path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o644)
            guard descriptor >= 0 else { throw .file(path, errno: errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                defer { close(descriptor) }
                guard errno == EWOULDBLOCK else { throw .file(path, errno: errno) }
                throw .running(pidFile: path, pid: content(of: descriptor))
            }
            if isAt(path, descriptor) { return descriptor }
            // The former owner has removed it in between.
            close(descriptor)
        }
    }

    private static func isAt(_ path: String, _ descriptor: CInt) -> Bool {
        var (there, here) = (stat(), stat())
        guard unsafe stat(path, &there) == 0, unsafe fstat(descriptor, &here) == 0 else {
            return false
        }
        return there.st_dev == here.st_dev && there.st_ino == here.st_ino
    }

    /// What the other process has written, as far as it is a number.
    private static func content(of descriptor: CInt) -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? "of unknown id" : String(decoding: digits, as: UTF8.self)
    }
}
