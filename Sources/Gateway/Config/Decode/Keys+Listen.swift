import YAMLReader

/// The keys of the addresses to listen on.
extension Config.Listen: PlainBlock {
    static let keys: [BlockKey<Config.Listen>] =
        addressKeys + [
            .value("name", \.name, .listenerName, "name for `listener` of endpoints"),
            .block("tls", \.tls, "certificates and settings of encrypted connections"),
            .value(
                "protocols", \.protocols, .filledList(of: .choice),
                default: .description("`[http2, http1]` with `tls`, else `[http1]`"),
                "application protocols, in the order of preference (ALPN); without tls, http2 is"
                    + " prior knowledge"),
            .value(
                "redirect", \.redirect, .redirect,
                "https or https:PORT: every request gets a 308 to the same host and target"),
        ]
}

extension Config.Admin: PlainBlock {
    static let keys: [BlockKey<Config.Admin>] =
        addressKeys + [
            .list(
                "hosts", \.hosts, .filledList(of: .host),
                "names accepted in Host in addition to IP addresses and local names; else 421"
            ),
            .value(
                "token", \.token, .bearerToken,
                "secret required in Authorization: Bearer, except for the probes and /, else 401; or none"
            ),
        ]
}

extension AddressBlock where Self: PlainBlock {
    static var addressKeys: [BlockKey<Self>] {
        [
            .value(
                "address", \.address, .listenAddress, isRequired: true,
                "host:port, \"[v6]:port\" or unix:/path"),
            .value(
                "mode", \.mode, .fileMode,
                "permissions of the socket file, e.g. \"0660\"; for unix: only"),
            .value(
                "group", \.group, .spelled,
                "group of the socket file, by name or number; for unix: only"),
        ]
    }
}

extension ValueReader where Value: AddressBlock & PlainBlock {
    /// An address alone, or a block with an address.
    static var addressOrBlock: ValueReader {
        let address = ValueReader<Config.ListenAddress>.listenAddress
        let block = ValueReader.block
        return ValueReader(schema: .either([address.schema, block.schema])) { node, decoder in
            if case .mapping = node.content { return block.read(node, &decoder) }
            return address.read(node, &decoder).map { address in
                var value = Value(location: node.location)
                value.address = Located(address, at: node.location)
                return value
            }
        }
    }
}

extension ValueReader where Value == [Config.Listen] {
    /// An address alone, a block, or a list of both.
    static var listeners: ValueReader {
        let one = ValueReader<Config.Listen>.addressOrBlock
        return ValueReader(schema: .oneOrMany(one.schema)) { node, decoder in
            switch node.content {
            case .sequence([]):
                decoder.fail(node.location, "must not be empty")
                return nil
            case .sequence(let nodes): return nodes.compactMap { one.read($0, &decoder) }
            case .scalar, .mapping: return one.read(node, &decoder).map { [$0] }
            }
        }
    }
}

extension ValueReader where Value == Config.Redirect {
    /// `https`, or `https:PORT`.
    static var redirect: ValueReader {
        let message = "must be https or https:PORT"
        return .scalar(.text(format: .redirect), expected: message) { scalar throws(Refusal) in
            if scalar.text == "https" { return Config.Redirect(port: nil) }
            guard scalar.text.hasPrefix("https:") else { throw Refusal(.init(fixed: message)) }
            let port = try URLSyntax.port(scalar.text.dropFirst(6), allowsZero: false)
            return Config.Redirect(port: port)
        }
    }
}

extension BlockKey {
    /// A key for an address alone or a block with one.
    static func address<Value: AddressBlock & PlainBlock>(
        _ name: String, _ path: any WritableKeyPath<Block, Value?> & Sendable,
        default fallback: KeyDefault = .none, _ doc: String
    ) -> BlockKey {
        let reader = ValueReader<Value>.addressOrBlock
        return BlockKey(name, reader.schema, default: fallback, doc) { member, block, decoder in
            block[keyPath: path] = reader.read(member.node, &decoder)
        }
    }
}

extension ValueReader where Value == UInt16 {
    /// Permission bits in the notation of `chmod`. The leading zero is required, so that the number
    /// cannot be read as a decimal one.
    static var fileMode: ValueReader {
        let message = "must be a file mode of four octal digits, such as \"0660\""
        return .scalar(.text(format: .fileMode), expected: message) { scalar throws(Refusal) in
            let digits = scalar.text.utf8
            guard digits.count == 4, digits.first == UInt8(ascii: "0"),
                digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }),
                let mode = UInt16(scalar.text, radix: 8)
            else { throw Refusal(.init(fixed: message)) }
            return mode
        }
    }
}

extension ValueReader where Value == String {
    /// A secret that fits into `Authorization: Bearer` (RFC 6750 2.1). No message quotes it.
    static var bearerToken: ValueReader {
        let message =
            "must be 16 to 512 letters, digits or characters of -._~+/, with = only at its end"
        return .scalar(.text(format: .secret), expected: message) { scalar throws(Refusal) in
            // Not from a variable or a file, whose placeholder it may be.
            if scalar.text == Config.Admin.noToken, !scalar.isExpanded { return scalar.text }
            let characters = scalar.text.utf8
            let token = characters.prefix { $0 != UInt8(ascii: "=") }
            guard (16...512).contains(characters.count), token.allSatisfy(isTokenCharacter),
                characters.dropFirst(token.count).allSatisfy({ $0 == UInt8(ascii: "=") })
            else { throw Refusal(.init(fixed: message)) }
            return scalar.text
        }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/".utf8.contains(byte)
        }
    }
}
