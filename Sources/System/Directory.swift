import CUV
import Glibc

/// The entries of directories.
package enum Directory {
    /// The names in a directory, without `.` and `..`; nil, with the reason in `errno`, if it cannot be
    /// read.
    package static func names(in path: String) -> [String]? {
        guard let stream = opendir(path) else { return nil }
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
