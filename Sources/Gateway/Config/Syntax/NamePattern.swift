/// A pattern for the alternative names of a certificate: a name, a name that ends with `*` for any
/// rest, or one that begins with `*.` for any single label.
package struct NamePattern: Sendable, Equatable {
    package let text: String
    private let kind: Kind
    /// The text without `*`.
    private let fixed: String

    private enum Kind: Sendable {
        case exact, prefix, label
    }

    /// Whether it is a pattern for URIs, by its `:`, which no DNS name has; others are for DNS names.
    package var isURI: Bool { text.utf8.contains(UInt8(ascii: ":")) }

    package init(parsing text: String) throws(Refusal) {
        guard !text.isEmpty else { throw Refusal("must not be empty") }
        let stars = text.utf8.count { $0 == UInt8(ascii: "*") }
        let kind: Kind
        if stars == 0 {
            (kind, fixed) = (.exact, text)
        } else if stars == 1, text.hasPrefix("*."), text.utf8.count > 2 {
            (kind, fixed) = (.label, String(text.dropFirst()))
        } else if stars == 1, text.hasSuffix("*"), text.utf8.count > 1 {
            (kind, fixed) = (.prefix, String(text.dropLast()))
        } else {
            throw Refusal(
                "must have '*' only at its end or as its first label, such as spiffe://shop/* or"
                    + " *.example.com")
        }
        self.text = text
        self.kind = kind
    }

    /// Whether a name matches, byte for byte.
    package func matches(_ name: String) -> Bool {
        switch kind {
        case .exact: return name == fixed
        case .prefix: return name.hasPrefix(fixed) && name.utf8.count > fixed.utf8.count
        case .label:
            guard name.hasSuffix(fixed) else { return false }
            let label = name.utf8.dropLast(fixed.utf8.count)
            return !label.isEmpty && !label.contains(UInt8(ascii: "."))
        }
    }
}
