import Basics
import Testing

@testable import TLS

/// The names of certificates: only those with the syntax of their kind count.
@Suite struct AlternativeNamesTests {
    private func names(_ pem: String) throws -> [PeerIdentity.AlternativeName] {
        let certificates = try PEM(Bytes(pem)).certificates { .certificate($0) }
        return certificates[0].use { AlternativeNames(of: $0).all }
    }

    @Test func readsURIsInTheirOrder() throws {
        #expect(
            try names(Self.twoURIs)
                == [.init(.uri, "spiffe://shop/zz"), .init(.uri, "spiffe://shop/admin")])
    }

    @Test(arguments: [Self.dnsNameWithTheTextOfAURI, Self.uriWithALineEnd, Self.uriWithAZeroByte])
    func ignoresNamesOfAnotherSyntax(_ pem: String) throws {
        #expect(try names(pem) == [])
    }

    private static let twoURIs = """
        -----BEGIN CERTIFICATE-----
        MIIBdjCCARygAwIBAgIUDMcAKFn7FASxu/kJwSsFpq1ukocwCgYIKoZIzj0EAwIw
        DTELMAkGA1UEAwwCY2EwHhcNMjYxMTI3MDQyMzA2WhcNMjYxMjI4MDQyMzA2WjAQ
        MQ4wDAYDVQQDDAVjLXR3bzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMKbFiCg
        wDv0dTGaINWE0UWfrPfqq7ORS/YFGiV5jCKtiOZ6NZt8QL0pEKruEnwbbi7YSSMM
        hMzj88nHV789PKCjVzBVMAwGA1UdEwEB/wQCMAAwMAYDVR0RBCkwJ4YQc3BpZmZl
        Oi8vc2hvcC96eoYTc3BpZmZlOi8vc2hvcC9hZG1pbjATBgNVHSUEDDAKBggrBgEF
        BQcDAjAKBggqhkjOPQQDAgNIADBFAiEAu1gRiLu74zmJKQfYjomb4V1LCTjiMRmW
        ZGqi+ob40PQCIGNOg5qMl0ioqba8ZI3Db402h9IewHVEnT5ladRHXqTs
        -----END CERTIFICATE-----
        """

    private static let dnsNameWithTheTextOfAURI = """
        -----BEGIN CERTIFICATE-----
        MIIBYzCCAQmgAwIBAgIUfHMTPIA7ukfOS2gTH+83y9o40wswCgYIKoZIzj0EAwIw
        DTELMAkGA1UEAwwCY2EwHhcNMjYxMTI3MDQyMzA2WhcNMjYxMjI4MDQyMzA2WjAT
        MREwDwYDVQQDDAhjLWRuc3VyaTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCNy
        k+L52mV04+KgL+o5jC9o0/T9LClErgLQ+WASrs5XFRqpQhDrLuOl6ffizrr1k8RE
        WP9TljuJtnR1XGrjme2jQTA/MAwGA1UdEwEB/wQCMAAwGgYDVR0RBBMwEYIPc3Bp
        ZmZlOi8vc2hvcC9hMBMGA1UdJQQMMAoGCCsGAQUFBwMCMAoGCCqGSM49BAMCA0gA
        MEUCIQCbeYjmcfCnXHtPbQCkjzrSToPBqP0Ucmh/0LE+wCZxAAIgQNRJMJJhlkHU
        kaYPF0tNisQK1sxloMFpk1S4f5c32L4=
        -----END CERTIFICATE-----
        """

    private static let uriWithALineEnd = """
        -----BEGIN CERTIFICATE-----
        MIIBajCCARCgAwIBAgIUHr6AGbk9B3tYEqtjgSi2TcMTIwEwCgYIKoZIzj0EAwIw
        DTELMAkGA1UEAwwCY2EwHhcNMjYxMTI3MDQyMzA2WhcNMjYxMjI4MDQyMzA2WjAP
        MQ0wCwYDVQQDDARjLW5sMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJzwUYNKw
        /Ycvz2FbT9d5KU2TUx7JmRMyXDPpXX7dKE6vY+JyWYwRAl1lkcytVD8OZSvso2aE
        QAHS/vaVnm8eMKNMMEowDAYDVR0TAQH/BAIwADAlBgNVHREEHjAchhpzcGlmZmU6
        Ly9zaG9wL2ENClgtRXZpbDogMTATBgNVHSUEDDAKBggrBgEFBQcDAjAKBggqhkjO
        PQQDAgNIADBFAiAaoiKfWocKMYFqX98tB2PdNKmhInxW5V/nbq5DbW9YXgIhAL0O
        ieDMimUEvea/QECgSR/4dXshBkkd29nF4Ds8sD8Z
        -----END CERTIFICATE-----
        """

    private static let uriWithAZeroByte = """
        -----BEGIN CERTIFICATE-----
        MIIBZjCCAQygAwIBAgIUNfXIQ+aYECsA6Ian2EICzhr1SkAwCgYIKoZIzj0EAwIw
        DTELMAkGA1UEAwwCY2EwHhcNMjYxMTI3MDQyMzA2WhcNMjYxMjI4MDQyMzA2WjAQ
        MQ4wDAYDVQQDDAVjLW51bDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHiR+aRg
        X/lpnsZzcqwMsP18e56HcDUUqy7xnRqraWcinPjs7YU39fkXcMoqKVsSoQv0wAhA
        egujV0YNE9DM6L+jRzBFMAwGA1UdEwEB/wQCMAAwIAYDVR0RBBkwF4YVc3BpZmZl
        Oi8vc2hvcC9hAC5ldmlsMBMGA1UdJQQMMAoGCCsGAQUFBwMCMAoGCCqGSM49BAMC
        A0gAMEUCIQCYmyaifzzgoNDKWkK8bqrjPwadX4LwNohksLNkXFnwmAIgGV7ySEZk
        1j4WrIjO2rRGrTRR0ltAZ887x2apA37S2W0=
        -----END CERTIFICATE-----
        """
}
