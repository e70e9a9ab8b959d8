import CUV
import Glibc

/// The name of this host, or of the container.
package enum HostName {
    /// More than POSIX allows.
    private static let lengthMax = 256

    package static let current: String = {
        var name = [CChar](repeating: 0, count: lengthMax + 1)
        guard gethostname(&name, lengthMax) == 0 else { return "" }
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
