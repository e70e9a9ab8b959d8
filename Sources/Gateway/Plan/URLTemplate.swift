import Basics
import HTTP
import JSONText

/// A text with values in it, compiled: the literal parts as bytes, each value with its source and
/// with the escaping that its place asks for.
struct URLTemplate {
    /// Where a value comes from, by index wherever there is one.
    enum Source {
        case param(Int)
        /// A part of an earlier call's answer; without a path, the whole of it.
        case call(Int, JSONPath?)
        case requestHeader(FieldName)
        /// Of the request's body; without a path, the whole of it.
        case requestBody(JSONPath?)
    }

    /// What surrounds a value, and so how it is escaped.
    enum Place {
        /// One path segment: `/` and dots cannot get out of it.
        case pathSegment
        /// The name or value of a query parameter.
        case query
        /// A header's value.
        case field
    }

    enum Piece {
        case literal(Bytes)
        case value(Source, Place, name: String)
    }

    let pieces: [Piece]

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
struct BodyTemplatePlan {
    enum Piece {
        case literal(Bytes)
        /// The JSON of the value; a parameter of a textual kind is quoted.
        case json(URLTemplate.Source, isTextual: Bool, name: String)
        /// The text of the value, escaped for the inside of a JSON string.
        case insideString(URLTemplate.Source, name: String)
    }

    let pieces: [Piece]

    /// The request's body goes along as it is.
    var isWholeBody: Bool {
        guard pieces.count == 1, case .json(.requestBody(nil), _, _) = pieces[0] else {
            return false
        }
        return true
    }
}
