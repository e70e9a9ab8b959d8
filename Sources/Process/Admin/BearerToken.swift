import Basics
import HTTP

/// The secret of `admin.token`, which requests present in `Authorization` (RFC 6750 2.1).
struct BearerToken: Sendable {
    private let secret: [UInt8]

    init(_ token: String) {
        secret = Array(token.utf8)
    }

    /// Whether a request has one `Authorization` field, with this token. Several are refused,
    /// because another server may read another one of them.
    func isPresented(in head: RequestHead) -> Bool {
        var credentials: [UInt8]?
        for field in head.fields.all("Authorization") {
            guard credentials == nil else { return false }
            credentials = Array(String(field.bytes).utf8)
        }
        guard let credentials, let token = Self.token(in: credentials) else { return false }
        return isSecret(token)
    }

    /// The token of `Bearer token`; schemes ignore case (RFC 9110 11.1).
    private static func token(in credentials: [UInt8]) -> ArraySlice<UInt8>? {
        let scheme = Array("bearer ".utf8)
        guard credentials.count > scheme.count else { return nil }
        // Sets the bit of lower case, which a space has, too.
        guard zip(scheme, credentials).allSatisfy({ $0 == $1 | 0x20 }) else { return nil }
        return credentials.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    }

    /// Takes the same time wherever the first difference is, so that the time of a response does not
    /// reveal how much of a guess is right.
    private func isSecret(_ guess: ArraySlice<UInt8>) -> Bool {
        guard guess.count == secret.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(guess, secret) { difference |= left ^ right }
        return difference == 0
    }
}
