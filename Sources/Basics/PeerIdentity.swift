/// The identity of a client that has proved it with a certificate.
package struct PeerIdentity: Sendable, Equatable {
    /// A name of a certificate (RFC 5280 4.2.1.6). Two names of different kinds are different, even if their
    /// texts are equal.
    package struct AlternativeName: Sendable, Equatable {
        package enum Kind: Sendable { case uri, dns }

        package let kind: Kind
        package let text: String

        package init(_ kind: Kind, _ text: String) {
            self.kind = kind
            self.text = text
        }
    }

    /// The URIs and DNS names of the certificate, in their order.
    package let alternativeNames: [AlternativeName]

    /// The subject in one line (RFC 2253).
    package let subject: String

    /// The certificate, DER.
    package let certificate: Bytes

    package init(alternativeNames: [AlternativeName], subject: String, certificate: Bytes) {
        self.alternativeNames = alternativeNames
        self.subject = subject
        self.certificate = certificate
    }

    /// The first URI of the alternative names, else the first DNS name, else the subject, which may be
    /// empty.
    package var name: String { firstName { _ in true } ?? subject }

    /// The first URI that meets a rule, else the first DNS name that does.
    package func firstName(where meetsRule: (AlternativeName) -> Bool) -> String? {
        let names = alternativeNames.filter { !$0.text.isEmpty && meetsRule($0) }
        return (names.first { $0.kind == .uri } ?? names.first)?.text
    }
}
