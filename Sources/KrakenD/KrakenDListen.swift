import Gateway
import Reactor
import YAMLReader

/// Converts the address and the `tls` of a KrakenD service to `listen`.
///
/// The result has a valid address in any case: without `listen`, clients would not have to send the
/// certificates that `enable_mtls` demands.
struct KrakenDListen {
    private let root: DocumentNode
    let port: UInt16
    private let host: String
    /// Nil without `tls`, and if KrakenD does not use it.
    private let tls: DocumentNode?
    /// The files of each certificate and its key.
    private let certificates: [(cert: String, key: String)]
    /// The file with the CA of the clients' certificates; nil if clients need none, or if there is no
    /// file.
    private let authority: String?

    init(_ root: DocumentNode) {
        self.root = root
        port = root["port"].flatMap(Self.port) ?? 8080
        // An address that cannot be read does not open the service to other machines.
        host = root["listen_ip"].map { Self.host($0) ?? "127.0.0.1" } ?? "0.0.0.0"
        tls = root["tls"].flatMap { $0.has("disabled") ? nil : $0 }
        certificates = Self.pairs(of: tls).compactMap { pair in
            guard let cert = pair["public_key"]?.name, let key = pair["private_key"]?.name
            else { return nil }
            return (cert, key)
        }
        let authorities = certificates.isEmpty ? [] : tls?["ca_certs"]?.texts ?? []
        authority =
            tls?.has("enable_mtls") == true ? authorities.first { !$0.isEmpty } : nil
    }

    /// The pairs of `keys`, and the one pair of older versions.
    private static func pairs(of tls: DocumentNode?) -> [DocumentNode] {
        guard let tls else { return [] }
        let isPair = tls["public_key"] != nil || tls["private_key"] != nil
        return (isPair ? [tls] : []) + (tls["keys"]?.elements ?? [])
    }

    static func port(_ node: DocumentNode) -> UInt16? {
        node.integer.flatMap { $0 == 0 ? nil : UInt16(exactly: $0) }
    }

    static func host(_ node: DocumentNode) -> String? {
        node.text.flatMap { IPAddress($0) == nil ? nil : $0 }
    }

    /// The tree without the files of certificates, which may not exist on this machine.
    var address: YAMLTree {
        .text((host.contains(":") ? "[\(host)]" : host) + ":\(port)")
    }

    /// An address, or a block with TLS.
    var tree: YAMLTree {
        if certificates.isEmpty {
            // With `tls`, both versions are the default.
            let usesH2C = root.has("use_h2c") || root.extra("router")?.node.has("use_h2c") == true
            return usesH2C
                ? .inline([("address", address), ("protocols", .texts(["http2", "http1"]))])
                : address
        }
        var members = certificates.map {
            [("cert", YAMLTree.text($0.cert)), ("key", .text($0.key))]
        }
        if members.count > 1 { members = [[("certificates", .list(members.map(YAMLTree.inline)))]] }
        // KrakenD's default.
        let isNewest = [nil, "TLS13"].contains(tls?["min_version"]?.text)
        let others = YAMLTree.members([
            ("min_version", isNewest ? .text("1.3") : nil),
            ("client_ca", authority.map(YAMLTree.text)),
        ])
        return .block([("address", address), ("tls", .block(members[0] + others))])
    }

    /// The setting that demands certificates of all clients, if the result does not; nil if there is
    /// none.
    var lostProtection: DocumentNode? {
        guard authority == nil, tls?.has("enable_mtls") == true else { return nil }
        return tls?["enable_mtls"]
    }

    // MARK: Losses

    func reportLosses(_ findings: ImportFindings) {
        if let disabled = root["tls"]?["disabled"], disabled.flag == true {
            findings.note(at: disabled.location, "'tls' is left out: it is disabled")
        }
        guard let tls else { return }
        guard !certificates.isEmpty else {
            return findings.warning(
                at: tls.location,
                "'tls' is left out: it has no 'public_key' with its 'private_key'; clients connect"
                    + " without encryption")
        }
        for pair in Self.pairs(of: tls)
        where pair["public_key"]?.name == nil || pair["private_key"]?.name == nil {
            findings.warning(
                at: pair.location,
                "a certificate is left out: 'public_key' and 'private_key' belong together")
        }
        let files = certificates.flatMap { [$0.cert, $0.key] } + (authority.map { [$0] } ?? [])
        findings.note(
            at: tls.location,
            "'tls' names files, relative to the folder of the configuration; 'tributary check' reads"
                + " them: \(files.joined(separator: ", "))")
        KrakenDTable.listenTLS.report(tls, findings)
        if let authorities = tls["ca_certs"], !authorities.texts.isEmpty {
            reportAuthorities(authorities, of: tls, findings)
        }
    }

    private func reportAuthorities(
        _ authorities: DocumentNode, of tls: DocumentNode, _ findings: ImportFindings
    ) {
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
        if !tls.has("disable_system_ca_pool") {
            findings.warning(
                at: authorities.location,
                "'client_ca' alone verifies clients; KrakenD also accepts certificates of the"
                    + " system's trusted CAs")
        }
    }
}

/// Converts a `client_tls` of KrakenD to a backend's `tls`.
struct KrakenDTLS {
    private let node: DocumentNode
    /// The file with the CA of the backend's certificate; nil if no file is named.
    private let authority: String?
    /// The files of the first client certificate; nil if one of them is not named.
    private let certificate: YAMLMembers?

    init(_ node: DocumentNode) {
        self.node = node
        authority = node["ca_certs"]?.texts.first { !$0.isEmpty }
        let client = node["client_certs"]?.elements.first
        if let file = client?["certificate"]?.name, let key = client?["private_key"]?.name {
            certificate = [("cert", .text(file)), ("key", .text(key))]
        } else {
            certificate = nil
        }
    }

    /// Nil if there is nothing to write.
    var tree: YAMLTree? {
        let trust: YAMLMembers =
            node.has("allow_insecure_connections")
            ? [("verify", .plain("false"))] : authority.map { [("ca", .text($0))] } ?? []
        return .inline(unlessEmpty: trust + (certificate ?? []))
    }

    /// Reports the settings that are not in `tree`.
    func reportLosses(_ findings: ImportFindings) {
        let newest = node.member("min_version").flatMap { $0.node.text == "TLS13" ? $0 : nil }
        KrakenDTable.clientTLS.report(node, findings) { $0 != newest }
        if let newest {
            findings.reportLoss(
                of: newest, .warning,
                "connections use TLS 1.3, or 1.2 if the backend does not know it")
        }
        for (key, what) in [("ca_certs", "file"), ("client_certs", "certificate")] {
            guard let list = node[key], list.elements.count > 1 else { continue }
            findings.warning(
                at: list.location, "'\(key)' has several entries; only the first \(what) is used")
        }
        if let list = node["ca_certs"], !list.texts.isEmpty {
            if authority == nil {
                findings.warning(at: list.location, "'ca_certs' is left out: it names no file")
            } else if !node.has("disable_system_ca_pool") {
                findings.warning(
                    at: list.location, "'ca' replaces the system's trusted CAs; KrakenD trusts both"
                )
            }
        }
        if let client = node["client_certs"]?.elements.first, certificate == nil {
            findings.warning(
                at: client.location,
                "a certificate is left out: 'certificate' and 'private_key' belong together")
        }
    }
}
