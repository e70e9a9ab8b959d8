package import Gateway
import Glibc

/// Reads whole files, and nothing but files: a pipe or a device would block the process or never
/// end.
package enum RegularFile {
    /// The bytes of a regular file of at most `bytesMax`; a symbolic link to one counts as one.
    package static func read(_ path: String, upTo bytesMax: Int) throws(ConfigFileError) -> [UInt8]
    {
        // Checked before it is opened, because opening a device or a pipe can have side effects.
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw failure() }
        try check(status)
        // The file may have been replaced since the check; opening a pipe must not block.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure() }
        try check(status)
        return try WholeInput.read(descriptor, upTo: bytesMax)
    }

    private static func check(_ status: stat) throws(ConfigFileError) {
        guard let kind = Self.kind(of: status) else { return }
        throw .unreadable("it is \(kind), not a regular file")
    }

    /// The kind of a file that is not a regular one.
    private static func kind(of status: stat) -> String? {
        switch status.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "a directory"
        case S_IFIFO: "a pipe"
        case S_IFCHR, S_IFBLK: "a device"
        case S_IFSOCK: "a socket"
        default: "a special file"
        }
    }

    static func failure() -> ConfigFileError {
        errno == ENOENT ? .notFound : .unreadable(unsafe String(cString: strerror(errno)))
    }
}

/// Reads a descriptor to its end.
package enum WholeInput {
    /// All bytes, at most `bytesMax`; an input that is larger is refused before it fills the
    /// memory.
    package static func read(
        _ descriptor: CInt, upTo bytesMax: Int
    ) throws(ConfigFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw RegularFile.failure()
            }
            if count == 0 { return bytes }
            guard bytes.count + count <= bytesMax else { throw .tooLarge(bytesMax) }
            bytes += chunk[..<count]
        }
    }
}
