import CNGHTTP2

/// The version of nghttp2 that this process uses, which may be newer than the one it was built
/// with.
package enum Nghttp2Version {
    /// Such as `1.52.0`.
    package static var text: String {
        nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? ""
    }
}
