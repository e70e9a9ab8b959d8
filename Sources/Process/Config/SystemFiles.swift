package import Gateway
import Glibc
import System

/// The file system, in the form that the configuration loader takes.
package enum SystemFiles {
    package static var files: ConfigFiles {
        var files = ConfigFiles(read: read, list: list)
        files.isWorldWritable = { isPermitted($0, S_IWOTH) }
        files.isWorldReadable = { isPermitted($0, S_IROTH) }
        return files
    }

    private static func read(_ path: String) throws(ConfigFileError) -> [UInt8] {
        try RegularFile.read(path, upTo: ConfigFiles.bytesMax)
    }

    /// By its permissions; a file that cannot be examined is reported when it is read.
    private static func isPermitted(_ path: String, _ permission: mode_t) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_mode & permission != 0
    }

    private static func list(_ directory: String) throws(ConfigFileError) -> [String] {
        guard let names = Directory.names(in: directory.isEmpty ? "." : directory) else {
            throw RegularFile.failure()
        }
        return names
    }
}
