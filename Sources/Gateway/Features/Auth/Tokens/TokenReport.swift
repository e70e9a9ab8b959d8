package import Basics
import JOSE
import JSONText

/// Why an authenticator accepts or rejects a token: the output of `token check`.
package struct TokenReport {
    package private(set) var lines: [String] = []
    package private(set) var isAccepted = false

    /// - Parameters:
    ///   - keySet: the JWK Set of the issuer; nil for the keys of the configuration
    ///   - now: in seconds since 1970
    package init(
        _ text: Bytes, _ authenticator: AuthenticatorPlan, keySet: Bytes?, now: Int64
    ) throws(TokenReportError) {
        guard let tokens = authenticator.tokens else { throw .noTokens(authenticator.name) }
        let rules = tokens.rules
        let keys: KeySet?
        do throws(KeySetError) {
            if let keySet {
                keys =
                    rules.algorithms.contains(where: \.isSymmetric)
                    ? try KeySet(secretFile: keySet) : try KeySet(file: keySet)
            } else {
                keys = try tokens.configuredKeys()
            }
        } catch {
            throw .keys("\(error)")
        }
        do throws(TokenFault) {
            let token = try CompactJWS(text)
            add("header", String(token.header.text.bytes))
            add("payload", String(token.payload))
            try check(token, rules, keys, now)
            isAccepted = true
        } catch {
            add("result", "rejected, \(Self.reason(error)): \(error)")
        }
    }

    private mutating func check(
        _ token: CompactJWS, _ rules: TokenRules, _ keys: KeySet?, _ now: Int64
    ) throws(TokenFault) {
        guard let keys else {
            let claims = try rules.checkWithoutKey(token, now: now)
            add("key", "not checked: the keys are fetched; give the JWK Set with --keys FILE")
            add("result", "accepted if the signature is right, \(Self.rest(claims, now))")
            return
        }
        for key in keys.unusable { add("key", "number \(key.position + 1) \(key.reason)") }
        let claims = try rules.verify(token, with: keys, now: now)
        add("result", "accepted, \(Self.rest(claims, now))")
    }

    private static func rest(_ claims: TokenClaims, _ now: Int64) -> String {
        "expires in \(claims.expires - now) s"
    }

    private static func reason(_ fault: TokenFault) -> String {
        switch fault {
        case .malformed: "malformed"
        case .untrusted: "untrusted"
        case .expired: "expired"
        case .notYetValid: "not_yet_valid"
        }
    }

    private mutating func add(_ title: String, _ text: String) {
        // A token may contain anything, and a terminal obeys control characters.
        let shown = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : "\($0)" }
        lines.append("\(title):\(String(repeating: " ", count: 9 - title.count))\(shown.joined())")
    }
}

/// Why a token cannot be checked at all.
package enum TokenReportError: Error {
    /// The authenticator with this name has no `jwt`.
    case noTokens(String)
    /// The text of the keys is unusable.
    case keys(String)
}
