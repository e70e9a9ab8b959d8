package import YAMLReader

extension Config {
    /// `certificate:`, the verified certificates of clients.
    package struct ClientCertificateRule: Sendable {
        package let location: SourceLocation
        /// Empty for every certificate that a listener accepts.
        package var names: [Located<NamePattern>] = []

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.ClientCertificateRule: PlainBlock {
    static let keys: [BlockKey<Config.ClientCertificateRule>] = [
        .list(
            "san", \.names, .filledList(of: .namePattern),
            "URIs and DNS names, of which the certificate must have one; * at the end or as the first"
                + " label; all verified certificates if absent")
    ]
}

extension ValueReader where Value == NamePattern {
    static var namePattern: ValueReader {
        .scalar(.text(format: .text), expected: "must be a text") { scalar throws(Refusal) in
            try NamePattern(parsing: scalar.text)
        }
    }
}
