package import Basics
package import HTTP
package import JSONText

/// A compiled text with references, a path with its query or a header value: literal parts as
/// bytes, each reference with the source of its value and its position, which determines how the
/// value is escaped.
package struct CompiledTemplate {
    /// Where a value comes from, by index where there is one.
    package enum Source: Equatable {
        case param(Int)
        /// A part of another call's response; without a path, the whole part.
        case call(Int, JSONPath?)
        case requestHeader(FieldName)
        /// A query parameter of the request, by its decoded name.
        case requestQuery(Bytes)
        /// The client's address.
        case requestClient
        /// The name of the authenticated caller.
        case requestCaller
        /// A claim of the request's token.
        case token(JSONPath)
        /// A value of the request's body; without a path, the whole body.
        case requestBody(JSONPath?)
        /// A value of the element that a request is made for; without a path, the whole element.
        case element(JSONPath?)

        /// The name of a query parameter.
        var queryName: Bytes? { if case .requestQuery(let name) = self { name } else { nil } }

        /// The name of a header.
        var headerName: FieldName? {
            if case .requestHeader(let name) = self { name } else { nil }
        }
    }

    /// Where a value is inserted, and thus how it is escaped.
    package enum Position {
        /// In a path segment: a `/` in the value does not end the segment.
        case pathSegment
        /// The name or value of a query parameter.
        case query
        /// A header's value.
        case field
    }

    /// A reference, compiled.
    ///
    /// A class, so that a use of it retains one reference.
    package final class Reference: Sendable {
        package let source: Source
        /// As configured, without a `?`, for reports.
        package let name: String
        /// Whether it is left out where it is absent; otherwise the call is skipped.
        package let isOptional: Bool
        /// Between the elements of a list, as it is sent; nil if the value is a single one.
        package let separator: Bytes?

        package init(
            source: Source, name: String, isOptional: Bool, separator: Bytes? = nil
        ) {
            self.source = source
            self.name = name
            self.isOptional = isOptional
            self.separator = separator
        }
    }

    package enum Piece {
        case literal(Bytes)
        case reference(Reference, Position)

        var reference: Reference? {
            if case .reference(let reference, _) = self { reference } else { nil }
        }
    }

    let pieces: [Piece]

    /// The pieces as `explain` shows them, where a variable or a secret's file is part of them.
    var concealed: [Piece]?

    /// The pieces without confidential text.
    package var shownPieces: [Piece] { concealed ?? pieces }

    /// In the order of the pieces.
    var references: [Reference] { pieces.compactMap(\.reference) }

    /// The path segments that values could make empty, `.` or `..`.
    var riskySegments: [RiskySegment] = []

    /// The text, where it contains no value.
    var constant: Bytes? {
        switch pieces.count {
        case 0: return Bytes()
        case 1: if case .literal(let bytes) = pieces[0] { return bytes } else { return nil }
        default: return nil
        }
    }
}

/// A compiled body with references.
package struct BodyTemplatePlan {
    package enum Piece {
        case literal(Bytes)
        /// The JSON of the value; a textual value is quoted.
        case json(CompiledTemplate.Reference, isTextual: Bool)
        /// The text of the value, escaped for the inside of a JSON string, or for a form.
        case insideString(CompiledTemplate.Reference)
        /// The comma before an entry, unless the entry is the first of its object or list; `&` in a
        /// form.
        case comma
        /// An entry that is left out, with its comma, where the value is absent; `key` is
        /// `"name":`, or empty in a list, or `name=` in a form.
        case optionalEntry(key: Bytes, CompiledTemplate.Reference, isTextual: Bool)

        var reference: CompiledTemplate.Reference? {
            switch self {
            case .literal, .comma: nil
            case .json(let reference, _), .insideString(let reference),
                .optionalEntry(_, let reference, _):
                reference
            }
        }
    }

    package let pieces: [Piece]
    /// Whether the pieces are fields of a form, and no JSON.
    package let isForm: Bool

    /// Whether a variable or a secret's file is part of it, so that `explain` does not show it.
    package let isConfidential: Bool

    static let json: FieldValue = "application/json"
    private static let form: FieldValue = "application/x-www-form-urlencoded"

    /// Sent unless the configuration sets another one.
    var contentType: FieldValue { isForm ? Self.form : Self.json }

    /// Appends what stands between two entries, unless the entry is the first.
    func appendSeparator(to body: inout [UInt8]) {
        guard isForm else { return body.appendJSONComma() }
        if !body.isEmpty { body.append(UInt8(ascii: "&")) }
    }

    /// Appends a text, escaped for the inside of a JSON string, or for a form: as in a query, so that a space
    /// is `%20` (WHATWG URL, section 5).
    func append(_ text: Bytes, to body: inout [UInt8]) {
        if isForm {
            body.append(percentEncoding: text.span)
        } else {
            body.append(insideJSONString: text)
        }
    }

    /// The reference to the request's body, where the body is forwarded unchanged.
    package var wholeBody: CompiledTemplate.Reference? {
        guard !isForm, pieces.count == 1, case .json(let reference, _) = pieces[0],
            case .requestBody(nil) = reference.source
        else { return nil }
        return reference
    }
}
