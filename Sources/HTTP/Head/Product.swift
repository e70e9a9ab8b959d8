/// The name and the version of this program, as its requests to servers state them (RFC 9110,
/// section 10.1.5).
package enum Product {
    package static let version = "0.3.0"

    /// The value of `User-Agent`.
    package static let userAgent: FieldValue = FieldValue("tributary/\(version)") ?? "tributary"
}

extension FieldName {
    package static var userAgent: FieldName { "User-Agent" }
}

extension Fields {
    /// The same with a `User-Agent`, unless they have one.
    package func namingProduct() -> Fields {
        guard !contains(.userAgent) else { return self }
        var fields = self
        fields.append(.userAgent, Product.userAgent)
        return fields
    }
}
