import Basics
package import HTTP

/// `content_types`: the media types that the body of a request may have.
package final class ContentTypes {
    /// In lower case; `image/` for `image/*`.
    private let exact: [Bytes]
    private let families: [Bytes]
    /// `application/json, image/*`, also the `Accept` of a refusal.
    package let text: String
    /// One of them, for a request whose type is not known.
    package let sample: FieldValue?

    /// Nil if every type is accepted.
    package init?(_ types: [Config.MediaType]) {
        guard !types.isEmpty else { return nil }
        let names = types.map(\.text)
        exact = names.filter { !$0.hasSuffix("/*") }.map { Bytes($0) }
        families = names.filter { $0.hasSuffix("/*") }.map { Bytes($0.dropLast()) }
        text = names.joined(separator: ", ")
        sample = types.first.flatMap { FieldValue($0.sample) }
    }

    /// The header of a refusal (RFC 9110 15.5.16).
    var acceptFields: Fields {
        guard let value = FieldValue(text) else { return Fields() }
        return [.accept: value]
    }

    /// Whether a request with a body states an accepted type. Parameters such as `charset` do not
    /// count. Of several lines, backends might use either, so they are not accepted.
    package func accepts(_ head: RequestHead) -> Bool {
        let lines = head.fields.all(.contentType)
        guard lines.count == 1 else { return false }
        let type = lines[0].bytes.mediaType
        return exact.contains { $0.count == type.count && type.hasPrefix($0) }
            || families.contains { $0.count < type.count && type.hasPrefix($0) }
    }
}

extension Bytes {
    /// A media type without its parameters (RFC 9110 8.3.1).
    fileprivate var mediaType: Bytes {
        self[0..<(span.firstOffset(of: UInt8(ascii: ";")) ?? count)].trimmed
    }

    /// Whether it begins with a text in lower case, in any case.
    fileprivate func hasPrefix(_ prefix: Bytes) -> Bool {
        guard count >= prefix.count else { return false }
        return prefix.span.equalsLowercased(span.extracting(0..<prefix.count))
    }
}
