package import Basics
package import HTTP
package import JSONText

/// A text with values in it, compiled: the literal parts as bytes, each value with its source and
/// with the escaping that its place asks for.
package struct URLTemplate {
    /// Where a value comes from, by index wherever there is one.
    package enum Source {
        case param(Int)
        /// A part of an earlier call's answer; without a path, the whole of it.
        case call(Int, JSONPath?)
        case requestHeader(FieldName)
        /// Of the request's query, by its decoded name.
        case requestQuery(Bytes)
        /// The client's address.
        case requestClient
        /// Of the request's body; without a path, the whole of it.
        case requestBody(JSONPath?)
    }

    /// What surrounds a value, and so how it is escaped.
    package enum Place {
        /// One path segment: `/` and dots cannot get out of it.
        case pathSegment
        /// The name or value of a query parameter.
        case query
        /// A header's value.
        case field
    }

    /// A reference, compiled.
    package struct Value {
        package let source: Source
        /// As written, without a `?`, for reports.
        package let name: String
        /// Left out where it is absent; else the call is skipped.
        package let isOptional: Bool
    }

    package enum Piece {
        case literal(Bytes)
        case value(Value, Place)
    }

    let pieces: [Piece]

    /// The pieces as `explain` shows them, where a variable or a secret's file put something in.
    var concealed: [Piece]?

    /// The pieces with nothing confidential in them.
    package var shownPieces: [Piece] { concealed ?? pieces }

    /// The path's segments that values could make empty, `.` or `..`.
    var riskySegments: [RiskySegment] = []

    /// The text when nothing in it is a value.
    var constant: Bytes? {
        switch pieces.count {
        case 0: return Bytes()
        case 1: if case .literal(let bytes) = pieces[0] { return bytes } else { return nil }
        default: return nil
        }
    }
}

/// A body with values in it, compiled.
package struct BodyTemplatePlan {
    package enum Piece {
        case literal(Bytes)
        /// The JSON of the value; a parameter of a textual kind is quoted.
        case json(URLTemplate.Value, isTextual: Bool)
        /// The text of the value, escaped for the inside of a JSON string.
        case insideString(URLTemplate.Value)
        /// The comma before an entry, unless the entry is the first of its object or list.
        case comma
        /// An entry that is left out, with its comma, where the value is absent; `key` is `"name":`,
        /// or empty in a list.
        case optionalEntry(key: Bytes, URLTemplate.Value, isTextual: Bool)

        var value: URLTemplate.Value? {
            switch self {
            case .literal, .comma: nil
            case .json(let value, _), .insideString(let value), .optionalEntry(_, let value, _):
                value
            }
        }
    }

    package let pieces: [Piece]

    /// Whether a variable or a secret's file put something in, so that it is not shown.
    package let isConfidential: Bool

    /// The request's body, where it is sent as it is.
    package var wholeBody: URLTemplate.Value? {
        guard pieces.count == 1, case .json(let value, _) = pieces[0],
            case .requestBody(nil) = value.source
        else { return nil }
        return value
    }
}
