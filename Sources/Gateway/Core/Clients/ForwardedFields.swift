import Basics
import HTTP
import Reactor

/// `forwarded:` of a backend or a call: the header lines that identify the client to a backend.
///
/// The headers of a trusted proxy are continued; headers of any other peer are ignored.
struct ForwardedFields {
    private let head: RequestHead
    private let client: ClientAddress
    private let source: Config.Clients.AddressSource
    /// The scheme of the peer's request.
    private let ownScheme: Bytes

    /// - Parameter isSecure: the peer's connection has TLS
    init(
        _ head: RequestHead, _ client: ClientAddress, _ source: Config.Clients.AddressSource,
        isSecure: Bool
    ) {
        self.head = head
        self.client = client
        self.source = source
        ownScheme = isSecure ? Self.https : Self.http
    }

    func append(_ lines: [ForwardedLine], to fields: inout Fields) {
        for line in lines {
            switch line {
            case .xFor: append(line.name, forwardedFor.span, to: &fields)
            case .xProto: appendX(line.name, client.proto ?? ownScheme, to: &fields)
            case .xHost: appendX(line.name, client.requestedHost ?? ownHost, to: &fields)
            case .forwarded: append(line.name, forwarded.span, to: &fields)
            }
        }
    }

    private static let http = Bytes("http")
    private static let https = Bytes("https")

    /// The host that the peer requested; nil for an empty `Host`, which names none.
    private var ownHost: Bytes? {
        let host = head.target.authority ?? head.fields[.host]?.bytes
        return host?.isEmpty == false ? host : nil
    }

    /// Whether the peer maintains this family of headers, so that its lines are continued.
    private func continues(_ family: Config.Clients.AddressSource) -> Bool {
        client.isProxied && source == family
    }

    /// Drops a value with a control byte, which can only come from a quoted string.
    private func append(_ name: FieldName, _ text: Span<UInt8>, to fields: inout Fields) {
        if !text.isEmpty { fields.append(name, text: text) }
    }

    // MARK: X-Forwarded-*

    /// The received addresses and the peer's address.
    private var forwardedFor: [UInt8] {
        var list: [UInt8] = []
        if continues(.forwardedFor) {
            for line in head.fields.all(.xForwardedFor) { list.append(entry: line.bytes) }
        } else if client.isNamedByProxy, let text = client.text {
            list.append(entry: text)
        }
        if let peer = client.peer {
            if !list.isEmpty { list.append(literal: ", ") }
            list.append(peer)
        }
        return list
    }

    /// Appends the lines of a proxy unchanged, else the known value.
    private func appendX(_ name: FieldName, _ value: Bytes?, to fields: inout Fields) {
        if continues(.forwardedFor), head.fields.contains(name) {
            for line in head.fields.all(name) { fields.append(name, line) }
        } else if let value {
            append(name, value.span, to: &fields)
        }
    }

    // MARK: Forwarded

    /// The elements received, and one for the peer's request.
    private var forwarded: [UInt8] {
        var list: [UInt8] = []
        if continues(.forwarded), let lines = readableLines {
            for line in lines { list.append(entry: line) }
        } else if client.isNamedByProxy, let address = client.address {
            // A list of schemes or hosts, as several proxies produce it, is not valid in an
            // element.
            list.append(
                entry: element(
                    for: address, host: client.requestedHost.flatMap { $0.isOneHost ? $0 : nil },
                    proto: client.proto.flatMap { $0.isScheme ? $0 : nil }))
        }
        list.append(entry: element(for: client.peer, host: ownHost, proto: ownScheme))
        return list
    }

    /// Nil if a line is malformed: it could change the meaning of what follows it.
    private var readableLines: [Bytes]? {
        let lines = head.fields.all(.forwarded).map(\.bytes)
        let areReadable = lines.allSatisfy { line in
            ForwardedElement.all(in: line).allSatisfy { $0 != nil }
        }
        return areReadable ? lines : nil
    }

    /// `for=192.0.2.1;host=example.com;proto=http`
    private func element(for address: IPAddress?, host: Bytes?, proto: Bytes?) -> Bytes {
        var text: [UInt8] = []
        text.append(literal: "for=")
        switch address {
        case nil: text.append(literal: "unknown")
        case .v4?: address.map { text.append($0) }
        case .v6?:
            text.append(literal: "\"[")
            address.map { text.append($0) }
            text.append(literal: "]\"")
        }
        if let host {
            text.append(literal: ";host=")
            text.append(forwardedValue: host)
        }
        if let proto {
            text.append(literal: ";proto=")
            text.append(forwardedValue: proto)
        }
        return Bytes(text)
    }
}

extension Bytes {
    /// Whether it contains neither a comma nor white space.
    fileprivate var isOneHost: Bool {
        !isEmpty && span.indices.allSatisfy { self[$0] > 0x20 && self[$0] != UInt8(ascii: ",") }
    }
}

extension [UInt8] {
    /// Appends an entry of a comma-separated list, unless it is empty.
    fileprivate mutating func append(entry: Bytes) {
        guard !entry.isEmpty else { return }
        if !isEmpty { append(literal: ", ") }
        append(entry)
    }

    /// Appends a token unchanged, anything else as a quoted string (RFC 9110 section 5.6.4).
    fileprivate mutating func append(forwardedValue value: Bytes) {
        guard value.span.first(notIn: .token, from: 0) < value.count else {
            return append(value)
        }
        append(UInt8(ascii: "\""))
        for index in value.span.indices {
            if value[index] == UInt8(ascii: "\"") || value[index] == UInt8(ascii: "\\") {
                append(UInt8(ascii: "\\"))
            }
            append(value[index])
        }
        append(UInt8(ascii: "\""))
    }
}
