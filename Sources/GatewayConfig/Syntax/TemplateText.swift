/// A text with references to values of the running request: `/v1/items/{id}?lang={lang}`.
///
/// Segments stand in order; a reference knows its offset in the text, so that a problem can point
/// at it. `{{` and `}}` stand for the braces themselves. `TemplateText(parsing:)` reads one.
package struct TemplateText: Sendable, Equatable {
    /// As it was written.
    let text: String
    package let segments: [Segment]

    package enum Segment: Sendable, Equatable {
        case literal(String)
        case reference(Reference)
    }

    package struct Reference: Sendable, Equatable {
        /// As written, without the braces: `profile.segment`, `request.body?`.
        package let text: String
        /// Characters (code points) before it in the whole text, the brace included.
        let offset: Int
        /// Written with a `?`: the value is left out where it is absent.
        package let isOptional: Bool
        package let source: Source

        /// The text without the `?`.
        package var name: String { isOptional ? String(text.dropLast()) : text }
    }

    /// Where the value comes from.
    package enum Source: Sendable, Equatable {
        /// `{id}`: a parameter, or else the whole answer of a call of that name.
        case name(String)
        /// `{profile.items[1].id}`: a part of a call's answer; the path is not empty.
        case call(String, path: [Step])
        /// `{request.header.X-Tenant}`
        case requestHeader(String)
        /// `{request.query.page}`: the name, decoded
        case requestQuery(String)
        /// `{request.client}`: the client's address
        case requestClient
        /// `{request.body}` (an empty path), `{request.body.a.b}`
        case requestBody(path: [Step])
    }

    /// One step into a JSON value.
    package enum Step: Sendable, Equatable {
        case key(String)
        case index(Int)
    }

    var references: [Reference] {
        segments.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
    }
}
