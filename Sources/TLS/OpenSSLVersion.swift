import COpenSSL

/// The version of OpenSSL that this process uses, which may be newer than the one it was built with.
package enum OpenSSLVersion {
    /// Such as `OpenSSL 3.0.15 3 Sep 2024`.
    package static var text: String {
        OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? ""
    }
}
