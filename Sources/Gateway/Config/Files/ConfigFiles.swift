/// The file access of the loader; tests and simulations pass their own.
package struct ConfigFiles {
    /// The largest file that is read.
    ///
    /// 16 MiB: some hundred thousand endpoints, or 70 times the trusted CA certificates of a
    /// system; a larger file is an error and must not fill the memory.
    package static let bytesMax = 16 << 20

    /// The bytes of a regular file of at most `bytesMax`.
    package let read: (_ path: String) throws(ConfigFileError) -> [UInt8]

    /// The names in a directory, in any order, without `.` and `..`.
    package let list: (_ directory: String) throws(ConfigFileError) -> [String]

    /// Whether every user of the system may write a file; the loader warns of such a configuration.
    package var isWorldWritable: (_ path: String) -> Bool = { _ in false }

    /// Whether every user of the system may read a file; the loader warns of such a private key.
    package var isWorldReadable: (_ path: String) -> Bool = { _ in false }

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
    /// Larger than this many bytes.
    case tooLarge(Int)
    /// The error text of the system: `permission denied`.
    case unreadable(String)

    package var message: String {
        switch self {
        case .notFound: "there is no such file"
        case .tooLarge(let bytesMax): "it is larger than \(Quantity.spelled(bytes: bytesMax))"
        case .unreadable(let message): message
        }
    }
}
