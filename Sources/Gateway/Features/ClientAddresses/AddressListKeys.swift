import Basics
import HTTP
package import YAMLReader

extension Config {
    /// `clients:` of an endpoint, the addresses that may call it.
    package struct Access: AccessBlock {
        package let location: SourceLocation
        package var allow: Located<AddressList>?
        package var deny: Located<AddressList>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// The value of `allow:` or `deny:`: networks in the configuration itself or in a file.
    package struct AddressList: Sendable, Equatable {
        package var networks: [AddressPrefix] = []
        /// Whether it has every peer on a unix socket, which has no address.
        package var includesUnixSockets = false
        /// Networks that come from a variable or a secret file, as the configuration has them; by
        /// index.
        package var written: [Int: String] = [:]
        /// The name of the file; nil if the networks are in the configuration.
        package var file: String?

        /// Whether no client matches.
        var isEmpty: Bool { networks.isEmpty && !includesUnixSockets }
    }

    /// A file of addresses under `allow:` or `deny:`.
    struct AddressFile: Sendable {
        let location: SourceLocation
        var file: Located<File>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

}

/// The common part of `clients` at the top level and of an endpoint.
package protocol AccessBlock: Sendable {
    var location: SourceLocation { get }
    var allow: Located<Config.AddressList>? { get set }
    var deny: Located<Config.AddressList>? { get set }
}

extension Config.AddressList {
    /// Why a file is not a list of addresses: the first wrong line, from 1.
    struct Fault: Error {
        let line: Int
    }

    /// Reads one network, address or `unix` per line; `#` starts a comment.
    init(reading file: Config.File) throws(Fault) {
        self.file = file.title
        var line = 1
        var start = 0
        let bytes = file.bytes
        while start < bytes.count {
            let end = bytes.span.firstOffset(of: 0x0A, from: start) ?? bytes.count
            try add(bytes[start..<end], line)
            start = end + 1
            line += 1
        }
    }

    private mutating func add(_ text: Bytes, _ line: Int) throws(Fault) {
        var end = text.span.firstOffset(of: UInt8(ascii: "#")) ?? text.count
        // The carriage return of a line that ends with CRLF.
        if end > 0, text[end - 1] == 0x0D { end -= 1 }
        let entry = text[0..<end].trimmed
        if entry.isEmpty { return }
        let word = String(entry)
        if word == "unix" {
            includesUnixSockets = true
        } else if let network = try? AddressPrefix(word) {
            networks.append(network)
        } else {
            throw Fault(line: line)
        }
    }
}

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
