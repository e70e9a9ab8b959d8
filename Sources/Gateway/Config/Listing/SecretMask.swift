import Basics

/// Replaces what may be a secret in a configuration that is shown: literal text becomes `***`.
/// References such as `{id}`, and `${NAME}` and `${file:/path}`, stay, because they are names.
package enum SecretMask {
    package static let text = "***"

    /// Headers whose values are no secrets.
    private static let harmlessHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control",
        "content-language", "content-type", "user-agent",
    ]

    /// The value of a header. References are masked too, because the headers of a backend have none:
    /// there, braces are literal text.
    package static func headerValue(_ value: String, of name: String) -> String {
        if harmlessHeaders.contains(name.lowercased()) { return value }
        return masked(value, hasReferences: false)
    }

    /// A text with its literal parts masked.
    static func masked(_ text: String, hasReferences: Bool = true) -> String {
        pieces(of: text, hasReferences: hasReferences).reduce(into: "") { result, piece in
            switch piece {
            case .name(let name): result += name
            case .literal: result += Self.text
            }
        }
    }

    /// A piece of a text.
    enum Piece: Equatable {
        /// Characters that stand in the file.
        case literal(String)
        /// A reference or a variable; the default of a variable is masked.
        case name(String)
    }

    static func pieces(of text: String, hasReferences: Bool) -> [Piece] {
        var pieces: [Piece] = []
        var literal = ""
        var rest = text[...]
        while !rest.isEmpty {
            guard let name = name(at: rest, hasReferences: hasReferences) else {
                // `$${` and `{{` are literal text, and no beginning of a name.
                let escape = ["$${", "{{"].first { rest.hasPrefix($0) }
                let length = escape?.count ?? 1
                literal += rest.prefix(length)
                rest = rest.dropFirst(length)
                continue
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            literal = ""
            pieces.append(.name(withoutDefault(name)))
            rest = rest.dropFirst(name.count)
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        return pieces
    }

    /// `${...}` or `{...}` at the beginning of a text; nil for literal text.
    private static func name(at text: Substring, hasReferences: Bool) -> Substring? {
        let isVariable = text.hasPrefix("${")
        guard isVariable || (hasReferences && text.hasPrefix("{") && !text.hasPrefix("{{")),
            let end = text.firstIndex(of: "}")
        else { return nil }
        return text[...end]
    }

    private static func withoutDefault(_ name: Substring) -> String {
        guard name.hasPrefix("${"), !name.hasPrefix("${file:"),
            let colon = name.firstIndex(of: ":")
        else { return String(name) }
        return name[..<colon] + ":-\(text)}"
    }
}
