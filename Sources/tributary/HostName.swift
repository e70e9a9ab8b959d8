import Glibc

/// The name of this host, or of the container.
enum HostName {
    /// More than POSIX allows.
    private static let lengthMax = 256

    static let current: String = {
        var name = [CChar](repeating: 0, count: lengthMax + 1)
        guard gethostname(&name, lengthMax) == 0 else { return "" }
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
