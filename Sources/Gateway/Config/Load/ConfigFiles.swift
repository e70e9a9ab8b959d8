/// How the loader reaches files; handed in, so that a test or a simulation has its own.
package struct ConfigFiles {
    /// The bytes of a file.
    package let read: (_ path: String) throws(ConfigFileError) -> [UInt8]

    /// The names in a directory, in any order, without `.` and `..`.
    package let list: (_ directory: String) throws(ConfigFileError) -> [String]

    package init(
        read: @escaping (_ path: String) throws(ConfigFileError) -> [UInt8],
        list: @escaping (_ directory: String) throws(ConfigFileError) -> [String]
    ) {
        self.read = read
        self.list = list
    }
}

/// Why a file or a directory could not be read.
package enum ConfigFileError: Error, Sendable, Equatable {
    case notFound
    /// The system's words: `permission denied`.
    case unreadable(String)

    package var words: String {
        switch self {
        case .notFound: "there is no such file"
        case .unreadable(let words): words
        }
    }
}
