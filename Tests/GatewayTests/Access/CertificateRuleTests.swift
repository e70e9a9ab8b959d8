import Basics
import HTTP
import Testing

@testable import Gateway

/// Which name of a certificate meets a rule, and is the caller's.
@Suite struct CertificateRuleTests {
    private typealias Name = PeerIdentity.AlternativeName

    private func caller(
        _ rules: [String], _ names: [PeerIdentity.AlternativeName], subject: String = "CN=a"
    ) throws -> String? {
        let rule = CertificateRule(patterns: try rules.map { try NamePattern(parsing: $0) })
        return rule.acceptedName(of: identity(names, subject))
    }

    private func identity(
        _ names: [PeerIdentity.AlternativeName], _ subject: String
    ) -> PeerIdentity {
        PeerIdentity(alternativeNames: names, subject: subject, certificate: Bytes())
    }

    /// All clients without a name would be one caller.
    @Test func certificateWithoutANameIsNotAccepted() throws {
        #expect(try caller([], [], subject: "") == nil)
        #expect(try caller([], [Name(.uri, "")], subject: "") == nil)
        #expect(try caller([], [Name(.uri, ""), Name(.dns, "a")], subject: "") == "a")
        #expect(try caller([], [Name(.uri, "")]) == "CN=a")
        let check = CertificateCheck(CertificateRule(patterns: []), name: "it")
        guard case .refused(let refusal) = check.result(of: identity([], "")) else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.reason == .untrusted)
        let other = CertificateCheck(CertificateRule(patterns: []), name: "it")
        guard case .accepted(let caller) = other.result(of: identity([], "CN=a")) else {
            Issue.record("refused")
            return
        }
        #expect(caller.name.map { String($0) } == "CN=a")
    }

    @Test func callerIsTheNameThatMeetsTheRule() throws {
        let names = [
            Name(.uri, "spiffe://shop/other"), Name(.dns, "a.example.com"),
            Name(.uri, "spiffe://shop/admin"),
        ]
        #expect(try caller(["spiffe://shop/admin"], names) == "spiffe://shop/admin")
        #expect(try caller(["a.example.com"], names) == "a.example.com")
        #expect(try caller(["*.example.com"], names) == "a.example.com")
        // A URI first, then the order of the certificate.
        #expect(try caller(["*.example.com", "spiffe://shop/*"], names) == "spiffe://shop/other")
        #expect(try caller(["spiffe://shop/none"], names) == nil)
    }

    @Test func nameOfAnotherKindDoesNotMeetTheRule() throws {
        #expect(try caller(["spiffe://shop/*"], [Name(.dns, "spiffe://shop/a")]) == nil)
        #expect(try caller(["spiffe://shop/a"], [Name(.dns, "spiffe://shop/a")]) == nil)
        #expect(try caller(["a.example.com"], [Name(.uri, "a.example.com")]) == nil)
        // The first label of a DNS name is no scheme.
        #expect(try caller(["*.example.com"], [Name(.uri, "spiffe://a.example.com")]) == nil)
        #expect(try caller(["*.example.com"], [Name(.dns, "b.example.com")]) == "b.example.com")
    }

    @Test func withoutARuleTheFirstURIIsTheCaller() throws {
        #expect(try caller([], [Name(.dns, "a"), Name(.uri, "s:b"), Name(.uri, "s:c")]) == "s:b")
        #expect(try caller([], [Name(.dns, "a"), Name(.dns, "b")]) == "a")
        #expect(try caller([], []) == "CN=a")
    }
}
