/// Masks the literal values of query parameters in a path: `/x?key=***&id={id}`.
///
/// It reads a path in pieces, as templates have them, and remembers where in the query it is.
package struct QueryMask {
    private var isInQuery = false
    private var isInValue = false
    /// The literal part of the present value has its mask.
    private var hasMask = false

    package init() {}

    /// A whole path with its query.
    static func masked(_ text: String) -> String {
        var mask = QueryMask()
        return mask.masked(text, hasReferences: true)
    }

    /// The next piece.
    ///
    /// - Parameter hasReferences: whether braces are references, and not literal text
    package mutating func masked(_ text: String, hasReferences: Bool) -> String {
        var result = ""
        for piece in SecretMask.pieces(of: text, hasReferences: hasReferences) {
            switch piece {
            case .name(let name):
                result += name
                hasMask = false
            case .literal(let literal): append(literal, to: &result)
            }
        }
        return result
    }

    private mutating func append(_ literal: String, to result: inout String) {
        for character in literal {
            switch character {
            case "?" where !isInQuery:
                isInQuery = true
                result.append(character)
            case "&" where isInQuery:
                isInValue = false
                result.append(character)
            case "=" where isInQuery && !isInValue:
                isInValue = true
                hasMask = false
                result.append(character)
            case _ where isInValue:
                if !hasMask { result += SecretMask.text }
                hasMask = true
            default: result.append(character)
            }
        }
    }
}
