/// The identity of a client that has proved it with a certificate.
package struct PeerIdentity: Sendable, Equatable {
    /// The first URI of the certificate's alternative names, else the first DNS name, else the
    /// subject.
    package let name: String

    /// All URIs and DNS names of the certificate, in their order.
    package let alternativeNames: [String]

    /// The certificate, DER.
    package let certificate: Bytes

    package init(name: String, alternativeNames: [String], certificate: Bytes) {
        self.name = name
        self.alternativeNames = alternativeNames
        self.certificate = certificate
    }
}
