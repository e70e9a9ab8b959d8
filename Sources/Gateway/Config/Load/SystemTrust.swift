import Basics

/// The files in which operating systems store their trusted CA certificates.
///
/// OpenSSL's own default is a path of the machine that it was built on, which a static binary in an
/// empty image cannot use.
enum SystemTrust {
    /// The environment variable that names another file, as for OpenSSL, Go and curl.
    static let variable = "SSL_CERT_FILE"

    private static let paths = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch, this project's image
        "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, RHEL
        "/etc/ssl/ca-bundle.pem",  // openSUSE
        "/etc/ssl/cert.pem",  // macOS, the BSDs
    ]

    /// The first of them that exists.
    static func file(in files: ConfigFiles, environment: (String) -> String?) -> Config.File? {
        let named = environment(variable) ?? ""
        for path in named.isEmpty ? paths : [named] {
            if let bytes = try? files.read(path) {
                return Config.File(
                    title: named.isEmpty ? path : "the file that \(variable) names",
                    path: path, bytes: Bytes(bytes))
            }
        }
        return nil
    }
}
