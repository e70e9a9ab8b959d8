import Gateway
import Glibc

/// The file system and the environment, as the configuration's loader asks for them.
enum SystemFiles {
    static var files: ConfigFiles { ConfigFiles(read: read, list: list) }

    /// A variable of the process's environment.
    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static func read(_ path: String) throws(ConfigFileError) -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw failure() }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        guard ferror(file) == 0 else { throw failure() }
        return bytes
    }

    private static func list(_ directory: String) throws(ConfigFileError) -> [String] {
        guard let stream = opendir(directory.isEmpty ? "." : directory) else { throw failure() }
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

    private static func failure() -> ConfigFileError {
        errno == ENOENT ? .notFound : .unreadable(String(cString: strerror(errno)))
    }
}
