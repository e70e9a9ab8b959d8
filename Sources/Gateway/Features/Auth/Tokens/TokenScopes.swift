import Basics
import HTTP
import JOSE
import JSONText

/// The scopes of a token.
enum TokenScopes {
    /// The scopes of the first claim that the token has: the words of a text, separated by spaces (RFC
    /// 8693, section 4.2), or the texts of an array.
    static func scopes(in payload: JSONSlice, _ claims: [JSONPath]) -> [Bytes] {
        for claim in claims {
            guard let value = payload.value(at: claim) else { continue }
            if value.kind == .array {
                return value.elements.compactMap(\.stringText)
            }
            guard let text = value.stringText else { return [] }
            return text.parts(separatedBy: UInt8(ascii: " ")).filter { !$0.isEmpty }
        }
        return []
    }
}
