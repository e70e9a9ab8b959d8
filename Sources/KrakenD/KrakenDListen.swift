import Reactor
import YAMLReader

/// Converts the address and the `tls` of a KrakenD service to `listen`.
///
/// What it writes is a valid address in any case: without `listen`, clients would not have to send the
/// certificates that `enable_mtls` demands.
struct KrakenDListen {
    private let root: DocumentNode

    init(_ root: DocumentNode) {
        self.root = root
    }

    // MARK: Address

    var port: UInt16 { statedPort ?? Self.defaultPort }

    private static let defaultPort: UInt16 = 8080

    private var statedPort: UInt16? {
        root["port"]?.integer.flatMap { UInt16(exactly: $0) }.flatMap { $0 == 0 ? nil : $0 }
    }

    /// An address that cannot be read does not open the service to other machines.
    private var host: String {
        root["listen_ip"] == nil ? "0.0.0.0" : statedHost ?? "127.0.0.1"
    }

    private var statedHost: String? {
        root["listen_ip"]?.text.flatMap { IPAddress($0) == nil ? nil : $0 }
    }

    /// The tree without the files of certificates, which may not exist on this machine.
    var address: YAMLTree {
        .text((host.contains(":") ? "[\(host)]" : host) + ":\(port)")
    }

    /// HTTP/2 without TLS; with `tls`, both versions are the default.
    private var usesH2C: Bool {
        [root, root["extra_config"]?["router"]].contains { $0?["use_h2c"]?.flag == true }
    }

    // MARK: TLS

    /// Nil without `tls`, and if KrakenD does not use it.
    private var tls: DocumentNode? {
        guard let tls = root["tls"], tls["disabled"]?.flag != true else { return nil }
        return tls
    }

    /// An address, or a block with TLS.
    var tree: YAMLTree {
        guard let tls, !certificates(of: tls).isEmpty else {
            guard usesH2C else { return address }
            return .inline([("address", address), ("protocols", .texts(["http2", "http1"]))])
        }
        return .block([("address", address), ("tls", .block(members(of: tls)))])
    }

    private func members(of tls: DocumentNode) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        let certificates = certificates(of: tls)
        if certificates.count == 1 {
            members += certificates[0].members
        } else {
            members.append(("certificates", .list(certificates.map { .inline($0.members) })))
        }
        // KrakenD's default.
        if [nil, "TLS13"].contains(tls["min_version"]?.text) {
            members.append(("min_version", .text("1.3")))
        }
        if let authority { members.append(("client_ca", .text(authority))) }
        return members
    }

    private struct Certificate {
        let file: String
        let key: String

        var members: [(String, YAMLTree)] { [("cert", .text(file)), ("key", .text(key))] }
    }

    /// The pairs of `keys`, or the one pair of older versions.
    private func certificates(of tls: DocumentNode) -> [Certificate] {
        pairs(of: tls).compactMap { pair in
            guard let file = pair["public_key"]?.text, let key = pair["private_key"]?.text,
                !file.isEmpty, !key.isEmpty
            else { return nil }
            return Certificate(file: file, key: key)
        }
    }

    private func pairs(of tls: DocumentNode) -> [DocumentNode] {
        let isPair = tls["public_key"] != nil || tls["private_key"] != nil
        return (isPair ? [tls] : []) + (tls["keys"]?.elements ?? [])
    }

    /// The file with the CA of the clients' certificates; nil if clients need none, or if there is no
    /// file.
    private var authority: String? {
        guard let tls, tls["enable_mtls"]?.flag == true, !certificates(of: tls).isEmpty else {
            return nil
        }
        return tls["ca_certs"]?.texts.first { !$0.isEmpty }
    }

    /// The setting that demands certificates of all clients, if the result does not; nil if there is
    /// none.
    static func lostProtection(of root: DocumentNode) -> DocumentNode? {
        let listen = KrakenDListen(root)
        guard let setting = listen.tls?["enable_mtls"], setting.flag == true,
            listen.authority == nil
        else { return nil }
        return setting
    }

    // MARK: Losses

    func reportLosses(_ findings: inout ImportFindings) {
        if let port = root["port"], statedPort == nil {
            findings.warning(at: port.location, "'port' becomes 8080: it is not a port")
        }
        if let host = root["listen_ip"], statedHost == nil {
            findings.warning(
                at: host.location, "'listen_ip' becomes 127.0.0.1: it is not an address")
        }
        guard let tls = root["tls"] else { return }
        if let disabled = tls["disabled"], disabled.flag == true {
            return findings.note(at: disabled.location, "'tls' is left out: it is disabled")
        }
        guard !certificates(of: tls).isEmpty else {
            return findings.warning(
                at: tls.location,
                "'tls' is left out: it has no 'public_key' with its 'private_key'; clients connect"
                    + " without encryption")
        }
        reportFiles(of: tls, &findings)
        for member in tls.members where !Self.known.contains(member.key) {
            findings.reportLoss(of: member, among: Self.losses)
        }
        reportVersions(of: tls, &findings)
        reportAuthorities(of: tls, &findings)
    }

    private func reportFiles(of tls: DocumentNode, _ findings: inout ImportFindings) {
        for pair in pairs(of: tls)
        where pair["public_key"]?.text?.isEmpty != false
            || pair["private_key"]?.text?.isEmpty != false
        {
            findings.warning(
                at: pair.location,
                "a certificate is left out: 'public_key' and 'private_key' belong together")
        }
        let files =
            certificates(of: tls).flatMap { [$0.file, $0.key] } + [authority].compactMap(\.self)
        findings.note(
            at: tls.location,
            "'tls' names files, relative to the folder of the configuration; 'tributary check' reads"
                + " them: \(files.joined(separator: ", "))")
    }

    private func reportVersions(of tls: DocumentNode, _ findings: inout ImportFindings) {
        if let version = tls["min_version"], !["TLS12", "TLS13"].contains(version.text) {
            findings.warning(
                at: version.location,
                "'min_version' becomes 1.2, the oldest version that is supported")
        }
        if let version = tls["max_version"], version.text != "TLS13" {
            findings.warning(
                at: version.location, "'max_version' is left out: TLS 1.3 is always possible")
        }
    }

    private func reportAuthorities(of tls: DocumentNode, _ findings: inout ImportFindings) {
        guard let authorities = tls["ca_certs"], !authorities.texts.isEmpty else { return }
        guard authority != nil else {
            return findings.note(
                at: authorities.location,
                "'ca_certs' is left out: KrakenD does not use it without 'enable_mtls'")
        }
        if authorities.texts.count > 1 {
            findings.warning(
                at: authorities.location,
                "'ca_certs' has several entries; only the first file is used, so append the others"
                    + " to it")
        }
        if tls["disable_system_ca_pool"]?.flag != true {
            findings.warning(
                at: authorities.location,
                "'client_ca' alone verifies clients; KrakenD also accepts certificates of the"
                    + " system's trusted CAs")
        }
    }

    private static let known: Set<String> = [
        "public_key", "private_key", "keys", "enable_mtls", "ca_certs", "disable_system_ca_pool",
        "min_version", "max_version", "disabled",
    ]

    private static let losses: [String: ImportLoss] = [
        "cipher_suites": choice, "curve_preferences": choice, "prefer_server_cipher_suites": choice,
    ]
    private static let choice = ImportLoss.note("'policy' determines ciphers and groups")
}
