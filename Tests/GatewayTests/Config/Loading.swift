import Foundation
import Gateway

/// The file of the manual's examples with a list of addresses.
private let addressFiles = [
    "deny.txt": "# the last attack\n192.0.2.0/24\n2001:db8:bad::/48 # all of it\n"
]

/// The key files of the manual's examples, and of the plans in `Tests/Fixtures`.
private let keyFiles = [
    "partners.yaml": """
    - id: ann
      hash: "sha256:2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90"
      scopes: [orders:read]
    - id: ben
      hash: "sha256:81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9"
      expires: "2027-01-01T00:00:00Z"
    """,
    "tools.yaml": """
    - user: ci
      hash: "sha256:2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90"
    """,
]

/// Loads a configuration from texts; only certificates are read from disk.
func load(
    _ files: [String: String], main: String = "c.yaml", environment: [String: String] = [:],
    unixTime: Int64? = nil
) -> (config: Config?, problems: Problems) {
    let all = files.merging(Certificates.files) { own, _ in own }
        .merging(addressFiles) { own, _ in own }
        .merging(keyFiles.filter { file in files.values.contains { $0.contains(file.key) } }) {
            own, _ in own
        }
    return ConfigLoader.load(
        main, files: ConfigFiles(texts: all), environment: { environment[$0] },
        unixTime: unixTime)
}

/// The files of `Tests/Fixtures/tls`, under the names in the examples and as the system's list.
enum Certificates {
    static let files: [String: String] = {
        let names = [
            "ca.pem": "authority.pem", "client.pem": "client.pem", "client.key": "client.key",
            "server.pem": "server.pem", "server.key": "server.key",
            "/etc/ssl/certs/ca-certificates.crt": "authority.pem",
        ]
        let own = [
            "shop", "shop-rsa", "partners", "expired", "must-staple", "large", "chain",
        ].flatMap { ["\($0).pem", "\($0).key"] }
        return names.merging(own.map { ($0, $0) }) { $1 }.compactMapValues {
            try? Golden.text("Tests/Fixtures/tls/\($0)")
        }
    }()
}

extension ConfigFiles {
    /// Files whose contents are these texts.
    init(texts: [String: String]) {
        self.init(
            read: { path throws(ConfigFileError) in
                guard let text = texts[path] else { throw .notFound }
                return Array(text.utf8)
            },
            list: { directory throws(ConfigFileError) in
                let prefix = directory == "." ? "" : directory
                let names = texts.keys.filter { $0.hasPrefix(prefix) }
                    .compactMap { $0.dropFirst(prefix.count).split(separator: "/").first }
                if names.isEmpty { throw .notFound }
                return Array(Set(names.map(String.init)))
            })
    }
}

/// The output of `check` for one file, without the summary; each line without `c.yaml:`.
func problems(
    _ text: String, environment: [String: String] = [:], file: String = "c.yaml",
    unixTime: Int64? = nil
) -> [String] {
    let lines = load(
        [file: text], main: file, environment: environment, unixTime: unixTime
    ).problems.lines
    return lines.dropLast().map { $0.replacingOccurrences(of: "\(file):", with: "") }
}
