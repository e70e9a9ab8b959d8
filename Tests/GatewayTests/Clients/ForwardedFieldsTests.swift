import Basics
import HTTP
import Reactor
import Testing

@testable import Gateway

/// What a backend receives with `forwarded`. Lines are written `F: for=...`, `For: ...`, `Proto:
/// ...` and `Host: ...` for the four headers.
@Suite struct ForwardedFieldsTests {
    private static let names: [(String, FieldName)] = [
        ("For", .xForwardedFor), ("Proto", .xForwardedProto), ("Host", .xForwardedHost),
        ("F", .forwarded),
    ]

    private func sent(
        _ mode: Config.Forwarded, _ lines: [String], peer: String? = "10.0.0.1:5000",
        trusting networks: [String] = [], from source: Config.Clients.AddressSource = .forwardedFor,
        host: String? = "api.example"
    ) throws -> [String] {
        var fields = Fields()
        if let host { fields.append(.host, try #require(FieldValue(host))) }
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            let name = try #require(Self.names.first { $0.0 == parts[0] }).1
            fields.append(name, try #require(FieldValue(parts[1])))
        }
        let proxies = TrustedProxies(
            networks: try networks.filter { $0 != "unix" }.map { try AddressPrefix($0) },
            includesUnixSockets: networks.contains("unix"), source: source)
        let head = RequestHead(method: .get, target: try #require(Target("/")), fields: fields)
        let client = proxies.client(
            of: fields, peer: peer.flatMap { SocketAddress($0) } ?? .unnamedUnix)
        var result = Fields()
        ForwardedFields(head, client, source, isSecure: false)
            .append(ForwardedLine.all(named: mode.names), to: &result)
        return result.map { line in
            let name = FieldName(line.name)
            let short = Self.names.first { $0.1 == name }?.0 ?? String(line.name)
            return "\(short): \(String(line.value))"
        }
    }

    static let claims = ["For: 6.6.6.6", "Proto: https", "Host: evil.example", "F: for=6.6.6.6"]

    @Test func clientsOwnLinesAreNotContinued() throws {
        #expect(
            try sent(.both, Self.claims) == [
                "For: 10.0.0.1", "Proto: http", "Host: api.example",
                "F: for=10.0.0.1;host=api.example;proto=http",
            ])
        #expect(try sent(.off, Self.claims) == [])
        #expect(try sent(.x, Self.claims).count == 3)
        #expect(try sent(.rfc7239, Self.claims).count == 1)
    }

    /// `host=` would be a syntax error (RFC 7239 4), for which readers drop the whole element.
    @Test func emptyHostIsNotStated() throws {
        #expect(
            try sent(.both, [], host: "")
                == ["For: 10.0.0.1", "Proto: http", "F: for=10.0.0.1;proto=http"])
        #expect(try sent(.rfc7239, [], host: nil) == ["F: for=10.0.0.1;proto=http"])
        #expect(
            try sent(.rfc7239, [], host: "a=b;c") == ["F: for=10.0.0.1;host=\"a=b;c\";proto=http"])
    }

    @Test func linesOfATrustedProxyAreContinued() throws {
        let lines = [
            "For: 6.6.6.6, 1.1.1.1", "For: 10.0.0.9", "Proto: https", "Host: shop.example",
        ]
        #expect(
            try sent(.x, lines, trusting: ["10.0.0.0/8"]) == [
                "For: 6.6.6.6, 1.1.1.1, 10.0.0.9, 10.0.0.1", "Proto: https", "Host: shop.example",
            ])
    }

    @Test func proxyWithoutAListStartsOne() throws {
        #expect(
            try sent(.x, [], trusting: ["10.0.0.1"]) == [
                "For: 10.0.0.1", "Proto: http", "Host: api.example",
            ])
    }

    /// The other family of headers is generated from what the proxy stated in its own.
    @Test func otherFamilyIsTranslated() throws {
        let lines = Self.claims + ["For: 1.1.1.1"]
        #expect(
            try sent(.rfc7239, lines, trusting: ["10.0.0.1"]) == [
                "F: for=1.1.1.1;host=evil.example;proto=https,"
                    + " for=10.0.0.1;host=api.example;proto=http"
            ])
        #expect(
            try sent(
                .x, ["For: 6.6.6.6", "Proto: ftp", "F: for=1.1.1.1;proto=https;host=\"a:81\""],
                trusting: ["10.0.0.1"], from: .forwarded)
                == ["For: 1.1.1.1, 10.0.0.1", "Proto: https", "Host: a:81"])
    }

    @Test func forwardedIsContinued() throws {
        let lines = ["F: for=1.1.1.1;proto=https", "F: for=10.0.0.9", "For: 6.6.6.6"]
        #expect(
            try sent(.rfc7239, lines, trusting: ["10.0.0.0/8"], from: .forwarded) == [
                "F: for=1.1.1.1;proto=https, for=10.0.0.9, for=10.0.0.1;host=api.example;proto=http"
            ])
    }

    /// An unterminated quoted string of a client would include what follows it.
    @Test func malformedForwardedIsReplaced() throws {
        #expect(
            try sent(
                .rfc7239, ["F: for=\"6.6.6.6"], trusting: ["10.0.0.1"], from: .forwarded)
                == ["F: for=10.0.0.1;host=api.example;proto=http"])
    }

    @Test func addressesOfVersion6AndHostsWithPortsAreQuoted() throws {
        #expect(
            try sent(.both, [], peer: "[2001:db8::1]:9", host: "api.example:8080") == [
                "For: 2001:db8::1", "Proto: http", "Host: api.example:8080",
                "F: for=\"[2001:db8::1]\";host=\"api.example:8080\";proto=http",
            ])
    }

    @Test func unixSocketHasNoAddress() throws {
        #expect(
            try sent(.both, ["For: 6.6.6.6"], peer: nil, host: nil)
                == ["Proto: http", "F: for=unknown;proto=http"])
        #expect(
            try sent(.x, ["For: 1.1.1.1"], peer: nil, trusting: ["unix"], host: nil)
                == ["For: 1.1.1.1", "Proto: http"])
    }

    @Test func listsAreNotUsedInAnElement() throws {
        let lines = ["For: 1.1.1.1", "Proto: https, http", "Host: a.example, b.example"]
        #expect(
            try sent(.both, lines, trusting: ["10.0.0.1"]) == [
                "For: 1.1.1.1, 10.0.0.1", "Proto: https, http", "Host: a.example, b.example",
                "F: for=1.1.1.1, for=10.0.0.1;host=api.example;proto=http",
            ])
    }
}
