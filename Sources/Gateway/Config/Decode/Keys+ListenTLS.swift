import YAMLReader

/// The keys of `tls` of a listener, and of the entries of its `certificates`.
extension Config.ListenTLS: PlainBlock {
    static let alternatives = [["certificates", "cert"]]

    static let keys: [BlockKey<Config.ListenTLS>] = [
        .value(
            "certificates", \.certificates, .certificates,
            "certificates with their keys, selected by the DNS names inside and by key type"),
        .value(
            "cert", \.cert, .file,
            "file with the only certificate, followed by its intermediate certificates"),
        .value("key", \.key, .privateKeyFile, "file with the private key of `cert`"),
        .value(
            "unknown_name", \.unknownName, .choice, default: .choice(PlanDefaults.unknownName),
            "for a server name that no certificate has: the first certificate, or an alert"),
        .value(
            "policy", \.policy, .choice, default: .choice(PlanDefaults.tlsPolicy),
            "versions, ciphers and groups, as Mozilla recommends them for servers"),
        .value(
            "min_version", \.minVersion, .tlsVersion, default: .text("1.2"),
            "oldest TLS version that is accepted; always 1.3 with policy: modern"),
        .value(
            "client_ca", \.clientCA, .file,
            "file with the CA certificates of clients; requests a certificate from every client"),
        .value(
            "client_certificate", \.clientCertificate, .choice,
            default: .choice(PlanDefaults.clientCertificate),
            "with client_ca, whether a client needs a certificate"),
        .value(
            "tickets", \.tickets, .tickets, default: .time(PlanDefaults.ticketLifetime),
            "how long a key for session tickets is used, 1h to 168h; off disables resumption"),
        .value(
            "handshake_timeout", \.handshakeTimeout, .duration,
            default: .time(PlanDefaults.handshakeTimeout),
            "time limit from accepting the connection to the end of the handshake"),
    ]
}

extension Config.ListenCertificate: PlainBlock {
    static let keys: [BlockKey<Config.ListenCertificate>] = [
        .value(
            "cert", \.cert, .file, isRequired: true,
            "file with the certificate, followed by its intermediate certificates"),
        .value(
            "key", \.key, .privateKeyFile, isRequired: true,
            "file with the private key of `cert`"),
    ]
}

extension ValueReader where Value == [Config.ListenCertificate] {
    static var certificates: ValueReader {
        let list = ValueReader.blocks(titled: { _ in "'certificates'" })
        return ValueReader(schema: list.schema) { node, decoder in
            if case .sequence([]) = node.content {
                decoder.fail(node.location, "must not be empty")
                return nil
            }
            return list.read(node, &decoder)
        }
    }
}

extension ValueReader where Value == Config.ListenTLS.Version {
    /// `1.2` or `1.3`, which YAML also reads as numbers.
    static var tlsVersion: ValueReader {
        let names = Config.ListenTLS.Version.allCases.map(\.rawValue)
        let message = "must be 1.2 or 1.3"
        return .scalar(.either([.choice(names), .number]), expected: message) {
            scalar throws(Refusal) in
            guard let version = Config.ListenTLS.Version(rawValue: scalar.text) else {
                throw Refusal(.init(fixed: message))
            }
            return version
        }
    }
}

extension ValueReader where Value == Config.ListenTLS.Tickets {
    /// A duration, or `off`.
    static var tickets: ValueReader {
        let time = ValueReader<Duration>.duration
        let range: ClosedRange<Duration> = .seconds(3600)...(.seconds(7 * 86_400))
        return ValueReader(schema: .either([time.schema, .choice(["off"])])) { node, decoder in
            if case .scalar(let scalar) = node.content, scalar.text == "off" { return .off }
            guard let lifetime = time.read(node, &decoder) else { return nil }
            guard range.contains(lifetime) else {
                decoder.fail(node.location, "must be a time from 1h to 168h, or off")
                return nil
            }
            return .lifetime(lifetime)
        }
    }
}
