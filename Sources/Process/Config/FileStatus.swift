import Glibc

/// The metadata of a file that changes with its content; symbolic links are followed, so another
/// target is another file.
struct FileStatus: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    /// The bytes of the times of its last change: of its content, and of its metadata.
    private let changed: [UInt8]

    /// Nil if the file cannot be examined, such as one that does not exist.
    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        changed = [status.st_mtim, status.st_ctim].flatMap { time in
            unsafe withUnsafeBytes(of: time) { unsafe Array($0) }
        }
    }
}
