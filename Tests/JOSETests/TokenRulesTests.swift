import Basics
import JSONText
import Testing

@testable import JOSE

/// The claims and the header of a token with a right signature.
@Suite struct TokenRulesTests {
    private static let now: Int64 = 1_700_000_000

    private func signer() throws -> TokenSigner {
        try #require(TokenSigner(seed: [UInt8](repeating: 3, count: 32), keyID: "k1"))
    }

    private func result(
        _ rules: TokenRules = Rules.with(), header: String = "{\"alg\":\"EdDSA\",\"kid\":\"k1\"}",
        payload: String
    ) throws -> TokenFault? {
        let signer = try signer()
        let keys = try KeySet(jwkSet: Bytes("{\"keys\":[\(signer.publicKey)]}"))
        let token = try #require(signer.sign(header: header, payload: payload))
        do throws(TokenFault) {
            _ = try rules.verify(try CompactJWS(token), with: keys, now: Self.now)
            return nil
        } catch {
            return error
        }
    }

    /// A payload that the rules accept, with claims replaced; an empty text removes one.
    private func payload(_ changes: [String: String] = [:]) -> String {
        var claims = [
            "iss": "\"https://id.example.com/\"", "aud": "\"shop\"", "exp": "\(Self.now + 60)",
        ]
        claims.merge(changes) { $1 }
        return "{"
            + claims.filter { $0.value != "" }.sorted { $0.key < $1.key }
            .map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test func acceptsAToken() throws {
        #expect(try result(payload: payload()) == nil)
    }

    static let claims: [([String: String], TokenFault?)] = [
        (["iss": ""], .untrusted(.issuer(nil))), (["iss": "1"], .malformed(.claim("iss"))),
        (
            ["iss": "\"https://id.example.com\""],
            .untrusted(.issuer(Bytes("https://id.example.com")))
        ),
        (["iss": "[\"https://id.example.com/\"]"], .malformed(.claim("iss"))),
        (["iss": "\"https:\\/\\/id.example.com\\/\""], nil),
        (["aud": ""], .untrusted(.audience)), (["aud": "\"Shop\""], .untrusted(.audience)),
        (["aud": "[]"], .untrusted(.audience)), (["aud": "[\"a\",\"shop\"]"], nil),
        (["aud": "[\"shop\",1]"], .malformed(.claim("aud"))),
        (["aud": "{\"shop\":1}"], .malformed(.claim("aud"))),
        (["aud": "null"], .malformed(.claim("aud"))),
        (["exp": ""], .untrusted(.noExpiry)),
        (["exp": "\"1800000000\""], .malformed(.claim("exp"))),
        (["exp": "null"], .malformed(.claim("exp"))), (["exp": "true"], .malformed(.claim("exp"))),
        (["exp": "1e400"], .malformed(.claim("exp"))), (["exp": "1.8e9"], nil),
        (["exp": "99999999999999999999"], nil), (["exp": "1700000000.5"], nil),
        (["exp": "1699999971"], nil), (["exp": "1699999970"], .expired(at: 1_699_999_970)),
        (["exp": "1699999970.9"], .expired(at: 1_699_999_970)),
        (["exp": "-99999999999999999999"], .expired(at: -1_000_000_000_000_000)),
        (["exp": "-0"], .expired(at: 0)),
        (["nbf": "1700000030"], nil), (["nbf": "1700000031"], .notYetValid(from: 1_700_000_031)),
        (["nbf": "1700000030.1"], .notYetValid(from: 1_700_000_031)),
        (["nbf": "1e300"], .notYetValid(from: 1_000_000_000_000_000)),
        (["nbf": "\"1\""], .malformed(.claim("nbf"))), (["iat": "9e99"], nil),
        // What is wrong for ever comes before what time changes.
        (["iss": "\"x\"", "exp": "1"], .untrusted(.issuer(Bytes("x")))),
    ]

    @Test(arguments: claims)
    func checksTheClaims(_ changes: [String: String], _ expected: TokenFault?) throws {
        #expect(try result(payload: payload(changes)) == expected)
    }

    @Test func acceptsAnyOfSeveralIssuersAndAudiences() throws {
        let rules = Rules.with(
            issuers: ["a", "https://id.example.com/"], audiences: ["shop", "store"])
        #expect(try result(rules, payload: payload(["aud": "\"store\""])) == nil)
        #expect(try result(rules, payload: payload(["iss": "\"a\""])) == nil)
        #expect(
            try result(rules, payload: payload(["iss": "\"b\""])) == .untrusted(.issuer(Bytes("b")))
        )
    }

    @Test(arguments: ["", "null", "\"x\""])
    func doesNotReadTheAudienceWhereAnyIsAccepted(_ audience: String) throws {
        #expect(try result(Rules.with(audiences: nil), payload: payload(["aud": audience])) == nil)
    }

    @Test(arguments: ["", "null", "7", "\"x\""])
    func doesNotReadTheIssuerWhereAnyIsAccepted(_ issuer: String) throws {
        let rules = Rules.with(issuers: nil)
        #expect(try result(rules, payload: payload(["iss": issuer])) == nil)
        #expect(
            try result(rules, payload: payload(["iss": issuer, "aud": "\"x\""]))
                == .untrusted(.audience))
    }

    @Test(arguments: ["", "[]", "text", "{\"iss\":"])
    func rejectsAPayloadThatIsNoObject(_ payload: String) throws {
        #expect(try result(payload: payload) == .malformed(.notObject(.payload)))
    }

    @Test func rejectsAClaimThatOccursTwice() throws {
        let twice = payload().dropLast() + ",\"sub\":\"a\",\"s\\u0075b\":\"b\"}"
        #expect(try result(payload: String(twice)) == .malformed(.duplicateName(.payload)))
    }

    @Test(
        arguments: [
            ("", nil, true), ("JWT", nil, true), ("jwt", nil, true), ("application/JWT", nil, true),
            ("at+jwt", nil, true), ("application/at+jwt", nil, true), ("AT+JWT", nil, true),
            ("dpop+jwt", nil, false), ("logout+jwt", nil, false), ("JOSE", nil, false),
            ("at+jwt", .accessToken, true), ("application/at+jwt", .accessToken, true),
            ("JWT", .accessToken, false), ("", .accessToken, false), ("at+jwt", .jwt, false),
        ] as [(String, TokenType?, Bool)])
    func checksTheType(_ type: String, _ required: TokenType?, _ isAccepted: Bool) throws {
        let member = type.isEmpty ? "" : ",\"typ\":\"\(type)\""
        let found = try result(
            Rules.with(type: required), header: "{\"alg\":\"EdDSA\"\(member)}", payload: payload())
        #expect(found == (isAccepted ? nil : .untrusted(.type(Bytes(type)))))
    }

    @Test(arguments: ["none", "None", "", "HS256", "eddsa", "RS256"])
    func rejectsAlgorithmsThatAreNotListed(_ name: String) throws {
        #expect(
            try result(header: "{\"alg\":\"\(name)\",\"kid\":\"k1\"}", payload: payload())
                == .untrusted(.algorithm(Bytes(name))))
    }

    @Test func rejectsAnotherSignature() throws {
        let signer = try signer()
        let other = try #require(
            TokenSigner(seed: [UInt8](repeating: 4, count: 32), keyID: "k1"))
        let keys = try KeySet(jwkSet: Bytes("{\"keys\":[\(signer.publicKey)]}"))
        let token = try CompactJWS(try #require(other.token(payload())))
        #expect(throws: TokenFault.untrusted(.signature)) {
            try Rules.with().verify(token, with: keys, now: Self.now)
        }
    }

    /// Then the token is of another key, which the issuer may have added.
    @Test func aKeyWithoutIDThatDoesNotVerifyIsUnknown() throws {
        let plain = try signer().publicKey.replacing("\"kid\":\"k1\",", with: "")
        let other = try #require(
            TokenSigner(seed: [UInt8](repeating: 4, count: 32), keyID: "k2"))
        let keys = try KeySet(jwkSet: Bytes("{\"keys\":[\(plain)]}"))
        let token = try CompactJWS(try #require(other.token(payload())))
        #expect(throws: TokenFault.untrusted(.unknownKey(Bytes("k2")))) {
            try Rules.with().verify(token, with: keys, now: Self.now)
        }
    }

    /// A signature of zeros for ECDSA has passed in other libraries (CVE-2022-21449).
    @Test(arguments: ["ES256", "ES384", "ES512"])
    func rejectsASignatureOfZeros(_ name: String) throws {
        let vector = try #require(Vector.algorithms.first { $0.source == name })
        let text = String(vector.token)
        let signed = text[...(try #require(text.lastIndex(of: ".")))]
        let algorithm = try #require(SignatureAlgorithm(rawValue: name))
        guard case .ecdsa(let curve) = algorithm.family else { return }
        for signature in [
            [UInt8](repeating: 0, count: 2 * curve.size), [],
            DER.sequence(DER.integer([1].span), DER.integer([1].span)),
        ] {
            let token = try CompactJWS(Bytes(signed + Base64URL.encode(signature)))
            let rules = Rules.with(algorithms: [algorithm])
            #expect(throws: TokenFault.untrusted(.signature)) {
                try rules.verify(token, with: try vector.keySet(), now: 0)
            }
        }
    }

    @Test func aTokenExpiresAfterTheLeeway() {
        let rules = Rules.with(leeway: 5)
        #expect(rules.isCurrent(expires: 100, now: 104) && !rules.isCurrent(expires: 100, now: 105))
        #expect(Rules.with(leeway: .max).isCurrent(expires: 1_000_000_000_000_000, now: 1 << 40))
    }
}
