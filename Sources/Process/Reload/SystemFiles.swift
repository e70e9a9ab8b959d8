package import GatewayConfig
import Glibc

/// The file system and the environment, in the form that the configuration loader takes.
package enum SystemFiles {
    package static var files: ConfigFiles {
        var files = ConfigFiles(read: read, list: list)
        files.isWorldWritable = { isPermitted($0, S_IWOTH) }
        files.isWorldReadable = { isPermitted($0, S_IROTH) }
        return files
    }

    /// A variable of the process's environment.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static func read(_ path: String) throws(ConfigFileError) -> [UInt8] {
        try RegularFile.read(path, upTo: ConfigFiles.bytesMax)
    }

    /// By its permissions; a file that cannot be examined is reported when it is read.
    private static func isPermitted(_ path: String, _ permission: mode_t) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_mode & permission != 0
    }

    private static func list(_ directory: String) throws(ConfigFileError) -> [String] {
        guard let stream = opendir(directory.isEmpty ? "." : directory) else {
            throw RegularFile.failure()
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
