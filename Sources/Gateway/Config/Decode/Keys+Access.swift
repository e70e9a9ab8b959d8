import YAMLReader

/// The keys that decide which clients are accepted, and the headers of all responses.
extension Config.Access: PlainBlock {
    static let keys: [BlockKey<Config.Access>] = accessKeys
}

extension AccessBlock where Self: PlainBlock {
    static var accessKeys: [BlockKey<Self>] {
        [
            .value(
                "allow", \.allow, .addresses,
                "clients that are accepted, others get 403: networks, addresses, or unix"),
            .value(
                "deny", \.deny, .addresses,
                "clients that get 403, even if allow has them: networks, addresses, or unix"),
        ]
    }
}

extension Config.AddressFile: PlainBlock {
    static let keys: [BlockKey<Config.AddressFile>] = [
        .value(
            "file", \.file, .file, isRequired: true,
            "file with one network or address per line; # starts a comment")
    ]
}

extension ValueReader where Value == Config.AddressList {
    /// A list of networks, or a file of them.
    static var addresses: ValueReader {
        let list = ValueReader<[Located<Config.Clients.Proxy>]>.filledList(of: .proxy)
        let block = ValueReader<Config.AddressFile>.block
        return ValueReader(schema: .either([list.schema, block.schema])) { node, decoder in
            if case .mapping = node.content {
                return block.read(node, &decoder)?.file.flatMap { decoder.addresses(in: $0) }
            }
            return list.read(node, &decoder).map { entries in
                var addresses = Config.AddressList()
                for entry in entries {
                    switch entry.value {
                    case .network(let network):
                        addresses.written[addresses.networks.count] = entry.written
                        addresses.networks.append(network)
                    case .unix: addresses.includesUnixSockets = true
                    }
                }
                return addresses
            }
        }
    }
}

extension ConfigDecoder {
    fileprivate mutating func addresses(
        in file: Located<Config.File>
    ) -> Config.AddressList? {
        do throws(Config.AddressList.Fault) {
            return try Config.AddressList(reading: file.value)
        } catch {
            fail(
                file.location,
                "must name a file with one network or address per line; line \(error.line) of"
                    + " '\(file.value.title)' is neither")
            return nil
        }
    }
}

extension ValueReader where Value == [Config.Header] {
    /// Fixed header lines of responses.
    static var responseHeaders: ValueReader {
        let map = ValueReader.map(
            of: ValueReader<String>.headerValue, checkingKey: HeaderSyntax.check(responseName:)
        ) { name, value in Config.Header(name: name, value: value) }
        return ValueReader(
            schema: .headers(ValueReader<String>.headerValue.schema), read: map.read)
    }
}

extension HeaderSyntax {
    /// Refuses the headers that responses have anyway, with the value of the moment.
    @Sendable static func check(responseName name: String) throws(Refusal) {
        guard isName(name) else {
            throw Refusal("must be the name of a header; '\(name)' is not a valid name")
        }
        let lowercased = name.lowercased()
        if isCORS(name) {
            throw Refusal("must not be '\(name)'; write 'cors' instead")
        }
        if lowercased == "cache-control" {
            throw Refusal("must not be '\(name)'; write 'cache_control' on an endpoint instead")
        }
        guard !isConnectionField(name), !describesMessage(name), !ownFields.contains(lowercased)
        else {
            throw Refusal("must not be '\(name)'; the gateway sets it itself")
        }
    }

    private static let ownFields = [
        "x-request-id", "gateway-complete", "gateway-failures", "server-timing", "retry-after",
        "allow",
    ]
}
