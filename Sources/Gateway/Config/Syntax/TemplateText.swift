/// A text with references to values of the running request: `/v1/items/{id}?lang={lang}`.
///
/// The segments are in the order of the text; a reference has its offset, so that a problem can
/// point at it. `{{` and `}}` are literal braces. `TemplateText(parsing:)` parses a text.
package struct TemplateText: Sendable, Equatable {
    /// The text in the configuration.
    let text: String
    package let segments: [Segment]

    package enum Segment: Sendable, Equatable {
        case literal(String)
        case reference(Reference)
    }

    package struct Reference: Sendable, Equatable {
        /// As written, without the braces: `profile.segment`, `request.body?`.
        package let text: String
        /// The number of code points before it in the whole text, the brace included.
        let offset: Int
        /// The text without `?` and separator.
        package let name: String
        /// Written with a `?`: an absent value is omitted.
        package let isOptional: Bool
        /// Between the elements of a list; nil if the value is a single one.
        package let separator: Separator?
        package let source: Source
    }

    /// How a list becomes one text.
    package enum Separator: Sendable, Equatable {
        /// `{tags,}`: commas
        case comma
        /// `{tags&tag=}`: the query parameter of this name, as it is written, once for each element
        case parameter(String)
    }

    /// The source of the value.
    package enum Source: Sendable, Equatable {
        /// `{id}`: a parameter, or else the whole response to a call of that name.
        case name(String)
        /// `{profile.items[1].id}`: a part of the response to a call; the path is not empty.
        case call(String, path: [Step])
        /// `{request.header.X-Tenant}`
        case requestHeader(String)
        /// `{request.query.page}`: the name, decoded
        case requestQuery(String)
        /// `{request.client}`: the client's address
        case requestClient
        /// `{request.caller}`: the name of the authenticated caller
        case requestCaller
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

    /// The reference that is the whole text; nil if there is more, or none.
    var soleReference: Reference? { segments.count == 1 ? references.first : nil }
}

extension TemplateText.Source {
    /// Whether a client can send a list there.
    var isListOfClient: Bool {
        switch self {
        case .requestQuery: true
        case .requestBody(let path): !path.isEmpty
        case .name, .call, .requestHeader, .requestClient, .requestCaller: false
        }
    }
}
