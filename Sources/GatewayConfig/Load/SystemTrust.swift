import Basics

/// Where systems keep the certificates of the authorities that they trust.
///
/// OpenSSL's own default is a path of the machine that it was built on; a static binary in an empty
/// image has no use for that.
enum SystemTrust {
    /// The variable that names another file, as OpenSSL, Go and curl know it.
    static let variable = "SSL_CERT_FILE"

    private static let paths = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch, our image
        "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, RHEL
        "/etc/ssl/ca-bundle.pem",  // openSUSE
        "/etc/ssl/cert.pem",  // macOS, the BSDs
    ]

    /// The first of them that is there.
    static func file(in files: ConfigFiles, environment: (String) -> String?) -> Config.File? {
        let named = environment(variable) ?? ""
        for path in named.isEmpty ? paths : [named] {
            if let bytes = try? files.read(path) {
                return Config.File(
                    title: named.isEmpty ? path : "the file that \(variable) names",
                    bytes: Bytes(bytes))
            }
        }
        return nil
    }
}
