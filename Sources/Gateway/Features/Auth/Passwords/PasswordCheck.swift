import Basics
import HTTP
import Reactor

/// Checks user names and passwords (`basic`, RFC 7617) against a key file.
final class PasswordCheck: CredentialCheck {
    private let search: KeySearch

    /// The user name and the password in Base64.
    private static let credentialBytesMax = 1024

    init(_ passwords: KeyTable, loop: any Loop) {
        search = KeySearch(passwords, loop: loop)
    }

    var guesses: GuessRule { .limited }

    /// The user name ends at the first colon (RFC 7617, section 2).
    func result(of credential: Bytes, _ context: RequestContext, until end: Instant) -> AuthResult {
        guard credential.count <= Self.credentialBytesMax,
            let text = Base64.bytes(credential).map({ Bytes($0) }),
            let colon = text.span.indices.first(where: { text[$0] == UInt8(ascii: ":") }),
            colon > 0, colon + 1 < text.count
        else { return .refused(.malformed) }
        return search.result(of: text[(colon + 1)..<text.count], named: text[0..<colon])
    }
}
