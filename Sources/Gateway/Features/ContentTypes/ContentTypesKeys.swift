import YAMLReader

/// The keys of an endpoint that restrict the media type of a request's body.
package struct ContentTypesKeys: Sendable {
    /// Empty for any type.
    package var types: [Located<Config.MediaType>] = []

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .list(
            "content_types", \.contentTypes.types, .filledList(of: .mediaType),
            "media types that a request's body may have, e.g. application/json; else 415")
    ]
}

extension Config {
    /// One of `content_types`: `application/json`, or `image/*` for all subtypes; without parameters.
    package struct MediaType: Sendable, Equatable {
        /// In lower case.
        package let text: String

        /// Reads `type/subtype` (RFC 9110 8.3.1).
        init(parsing text: String) throws(Refusal) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2, HeaderSyntax.isName(parts[0]), parts[0] != "*",
                HeaderSyntax.isName(parts[1])
            else {
                throw Refusal(
                    "must be a media type such as application/json or image/*, without parameters")
            }
            guard parts[1] == "*" || !parts[1].contains("*") else {
                throw Refusal("must be a media type; '*' can only be the whole subtype, as image/*")
            }
            self.text = text.lowercased()
        }
    }
}

extension ValueReader where Value == Config.MediaType {
    static var mediaType: ValueReader {
        .scalar(
            .text(format: .mediaType), expected: "must be a media type such as application/json"
        ) { scalar throws(Refusal) in
            try Config.MediaType(parsing: scalar.text)
        }
    }
}
