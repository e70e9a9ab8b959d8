import Basics
import HTTP
import Testing

@testable import Gateway

@Suite struct AllowedHostsTests {
    private static let names = ["api.example.com", "192.0.2.1", "2001:DB8:0::1", "A"]
    private let hosts = AllowedHosts(names)

    @Test(arguments: [
        ("api.example.com", true), ("API.Example.COM", true), ("api.example.com:8080", true),
        ("api.example.com.", true), ("api.example.com.:80", true), ("api.example.com:", true),
        ("a", true), ("a:1", true), ("192.0.2.1", true), ("192.0.2.1:80", true),
        ("[2001:db8::1]", true), ("[2001:db8::1]:80", true), ("[2001:0DB8:0:0::1]", true),
        ("x", false), ("", false), (":80", false), (".", false), ("..", false), ("a..", false),
        ("api.example.com.evil.test", false), ("evilapi.example.com", false),
        ("example.com", false), ("api.example.comm", false), ("192.0.2.10", false),
        ("192.0.2.1:80:80", false), ("2001:db8::1", false), ("[2001:db8::2]", false),
        ("[]", false), ("[", false), ("[::1", false), ("]", false), ("api.example.com@x", false),
        ("api.example.com:x", false), ("api.example.co\u{6d}\u{301}", false),
    ])
    func comparesHosts(_ authority: String, _ isAccepted: Bool) {
        let table = HostTable(Self.names.map { ($0, 1) })
        #expect(table.values(of: Bytes(authority)).exact == (isAccepted ? 1 : nil))
    }

    @Test(arguments: [
        ("/x", "a", true), ("/x", "b", false), ("/x", nil, false),
        // An absolute target takes precedence (RFC 9112 3.2.2).
        ("http://a/x", "b", true), ("http://b/x", "a", false), ("http://A:1/x", nil, true),
    ])
    func findsTheHostOfARequest(_ target: String, _ host: String?, _ isAccepted: Bool) throws {
        var fields = Fields()
        if let host { fields.append(.host, try #require(FieldValue(host))) }
        let head = RequestHead(method: .get, target: try #require(Target(target)), fields: fields)
        #expect(try #require(hosts).accepts(head) == isAccepted)
    }

    @Test func acceptsOneLabelMore() throws {
        let hosts = try #require(AllowedHosts(["*.example.com"]))
        for (host, isAccepted) in [
            ("a.example.com", true), ("A.Example.com:80", true), ("example.com", false),
            ("a.b.example.com", false),
        ] {
            let head = RequestHead(
                method: .get, target: try #require(Target("/")),
                fields: [.host: try #require(FieldValue(host))])
            #expect(hosts.accepts(head) == isAccepted, "\(host)")
        }
    }

    @Test func noListAcceptsAll() { #expect(AllowedHosts([]) == nil) }
}
