import Basics
import JSONText
import Testing

@testable import JOSE

/// JWK Sets, PEM, and the selection of a key.
@Suite struct KeySetTests {
    private func error(_ text: String) -> KeySetError? {
        do throws(KeySetError) {
            _ = try KeySet(file: Bytes(text))
            return nil
        } catch {
            return error
        }
    }

    private static func vector(_ name: String) throws -> Vector {
        try #require(Vector.algorithms.first { $0.source == name })
    }

    /// The key of an algorithm, with members replaced or added.
    private static func key(_ name: String, _ changes: [String: String] = [:]) throws -> String {
        var members: [(String, String)] = try vector(name).key.members.map {
            (String($0.key.unescaped), String($0.value.bytes))
        }
        members.removeAll { changes[$0.0] != nil }
        members += changes.filter { $0.value != "" }.sorted { $0.key < $1.key }
        return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    private static func set(_ keys: String...) throws -> KeySet {
        try KeySet(jwkSet: Bytes("{\"keys\":[\(keys.joined(separator: ","))]}"))
    }

    // MARK: Sets

    @Test(arguments: [
        ("{", KeySetError.notJSON), ("{}", .noKeys), ("{\"keys\":{}}", .noKeys),
        ("{\"keys\":[],\"keys\":[]}", .noKeys), ("[]", .noPEM), ("", .noPEM), ("x", .noPEM),
        ("-----BEGIN", .noPEM),
    ])
    func rejectsOtherTexts(_ text: String, _ expected: KeySetError) {
        #expect(error(text) == expected)
    }

    // MARK: Secrets

    private static let k = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    /// The kinds of the keys in a file of secrets, and the reasons for those that are not used.
    private static func secrets(_ text: Bytes) throws -> [String] {
        let set = try KeySet(secretFile: text)
        return set.keys.map { "\($0.id.map { String($0) } ?? "-") \($0.kind)" }
            + set.unusable.map { "\($0.reason)" }
    }

    @Test func readsASymmetricJWKAndASetOfThem() throws {
        let key = #"{"kty":"oct","kid":"a","alg":"HS256","use":"sig","k":"\#(Self.k)"}"#
        #expect(try Self.secrets(Bytes(" " + key)) == ["a secret of 32 bytes"])
        let others = #"{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"oct","k":"AA=="},{"kty":"oct"}"#
        #expect(
            try Self.secrets(Bytes(#"{"keys":[\#(key),\#(others)]}"#)) == [
                "a secret of 32 bytes", "is not symmetric (kty oct), so it is no secret",
                "has no valid 'k'", "has no valid 'k'",
            ])
    }

    /// Any bytes are a secret, also some that begin like JSON; none of them is left out.
    @Test(arguments: [
        [UInt8](0...63), [0x7B] + [UInt8](repeating: 0xFF, count: 31),
        Array("0123456789abcdef0123456789abcde\n".utf8),
    ])
    func readsTheBytesOfASecret(_ bytes: [UInt8]) throws {
        #expect(try Self.secrets(Bytes(bytes)) == ["- secret of \(bytes.count) bytes"])
    }

    /// Every client may know a public key.
    @Test func refusesPEMAsASecret() {
        let text = "x\n-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"
        #expect(throws: KeySetError.publicSecret) { try KeySet(secretFile: Bytes(text)) }
        #expect(throws: KeySetError.noKeys) { try KeySet(secretFile: Bytes("{}")) }
    }

    @Test func aSetMayBeEmpty() throws {
        #expect(try KeySet(jwkSet: Bytes("{\"keys\":[]}")).keys.isEmpty)
    }

    @Test func aSetHasAtMost100Keys() {
        let keys = { (count: Int) in
            "{\"keys\":[" + [String](repeating: "{}", count: count).joined(separator: ",") + "]}"
        }
        #expect(error(keys(100)) == nil)
        #expect(error(keys(101)) == .tooManyKeys)
    }

    @Test func aSetHasAtMost256KiB() {
        let text = { (size: Int) in
            "{\"keys\":[]" + String(repeating: " ", count: size - 12) + "} "
        }
        #expect(text(300).utf8.count == 300)
        #expect(error(text(256 * 1024)) == nil)
        #expect(error(text(256 * 1024 + 1)) == .tooLong)
    }

    @Test(arguments: [
        (["ES256"], [SignatureAlgorithm.es256], true, [String]()),
        (["ES256"], [.rs256], false, ["the key 'key-ES256' (EC P-256) does not fit RS256"]),
        (["ES256", "ES256"], [.es256], false, ["several keys have the kid 'key-ES256'"]),
        (["ES256", "RS256"], [.es256, .rs256], true, []),
        ([], [.es256], false, ["the set is empty"]),
    ])
    func tellsWhetherItVerifiesTokens(
        _ names: [String], _ algorithms: [SignatureAlgorithm], _ canVerify: Bool,
        _ problems: [String]
    ) throws {
        let keys = try names.map { try Self.key($0) }.joined(separator: ",")
        let set = try KeySet(jwkSet: Bytes("{\"keys\":[\(keys)]}"))
        #expect(set.canVerify(algorithms) == canVerify)
        if !canVerify { #expect(set.problems(with: algorithms) == problems) }
    }

    @Test func listsAtMostEightProblems() throws {
        let keys = (0..<20).map { _ in "1" }.joined(separator: ",")
        let problems = try KeySet(jwkSet: Bytes("{\"keys\":[\(keys)]}")).problems(with: [.es256])
        #expect(problems.count == 8 && problems.last == "13 more")
        #expect(problems.first == "key 1 is not an object")
    }

    /// A block that cannot be decoded is listed, and hides no other one.
    @Test func aBrokenBlockOfPEMIsListed() throws {
        let whole = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
            -----END PUBLIC KEY-----

            """
        let broken = "-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n"
        let set = try KeySet(file: Bytes(whole + broken + whole))
        #expect(set.keys.count == 2)
        #expect(set.unusable == [.init(position: 1, reason: .value)])
        // The positive control.
        #expect(try KeySet(file: Bytes(whole)).unusable.isEmpty)
        #expect(error(broken) == .noPEM)
    }

    @Test func unusableKeysDoNotSpoilTheOthers() throws {
        let set = try Self.set("{}", try Self.key("ES256"), "1", "{\"kty\":\"XYZ\"}")
        #expect(set.keys.map(\.id) == [Bytes("key-ES256")])
        #expect(set.keys.map(\.kind) == ["EC P-256"])
        #expect(
            set.unusable == [
                .init(position: 0, reason: .member("kty")), .init(position: 2, reason: .notObject),
                .init(position: 3, reason: .keyType),
            ])
    }

    static let unusable: [(String, [String: String], UnusableKey)] = [
        ("RS256", ["use": "\"enc\""], .use), ("RS256", ["use": "1"], .member("use")),
        ("RS256", ["key_ops": "[\"sign\"]"], .operations),
        ("RS256", ["key_ops": "\"verify\""], .member("key_ops")),
        ("RS256", ["alg": "\"RSA-OAEP\""], .algorithm), ("RS256", ["alg": "\"none\""], .algorithm),
        ("RS256", ["d": "\"AQAB\""], .privateKey), ("RS256", ["kid": "1"], .member("kid")),
        ("RS256", ["n": "\"AQAB\""], .size(17)), ("RS256", ["n": ""], .member("n")),
        ("RS256", ["n": "\"\""], .value), ("RS256", ["e": "\"\""], .value),
        ("RS256", ["e": "\"AQ\""], .value), ("RS256", ["e": "\"Ag\""], .value),
        ("RS256", ["e": "\"AQAAAAAAAAAB\""], .value), ("RS256", ["e": "\"AQAB=\""], .member("e")),
        ("RS256", ["kty": "\"oct\"", "k": "\"AAAA\""], .symmetric),
        ("RS256", ["kty": "\"EC\""], .member("crv")),
        ("RS256", ["x5c": "{\"a\":1,\"a\":1}"], .duplicateName),
        ("ES256", ["crv": "\"P-384\""], .value), ("ES256", ["crv": "\"secp256k1\""], .curve),
        ("ES256", ["y": "\"\(String(repeating: "A", count: 43))\""], .value),
        ("ES256", ["x": ""], .member("x")), ("EdDSA", ["crv": "\"Ed448\""], .curve),
        ("EdDSA", ["crv": "\"X25519\""], .curve), ("EdDSA", ["x": "\"AAAA\""], .value),
        ("EdDSA", ["crv": ""], .curve),
    ]

    @Test(arguments: unusable)
    func aKeyIsNotUsed(_ name: String, _ changes: [String: String], _ reason: UnusableKey) throws {
        #expect(try Self.set(try Self.key(name)).keys.count == 1)
        let set = try Self.set(try Self.key(name, changes))
        #expect(set.keys.isEmpty)
        #expect(set.unusable.map(\.reason) == [reason])
    }

    @Test(arguments: [(2047, false), (2048, true), (8192, true), (8193, false)])
    func keysOfRSAHave2048To8192Bits(_ bits: Int, _ isUsed: Bool) throws {
        var modulus = [UInt8](repeating: 0, count: (bits + 7) / 8)
        modulus[0] = 1 << UInt8((bits - 1) % 8)
        modulus[modulus.count - 1] |= 1
        let set = try Self.set(
            try Self.key("RS256", ["n": "\"\(Base64URL.encode(modulus))\""]))
        #expect(set.keys.count == (isUsed ? 1 : 0))
        #expect(set.unusable.map(\.reason) == (isUsed ? [] : [.size(bits)]))
    }

    @Test(arguments: [
        ["use": "\"sig\""], ["key_ops": "[\"verify\"]"], ["key_ops": "[\"sign\",\"verify\"]"],
        ["alg": "\"RS256\""], ["x": "1"],
    ])
    func aKeyIsUsed(_ changes: [String: String]) throws {
        #expect(try Self.set(try Self.key("RS256", changes)).keys.count == 1)
    }

    // MARK: PEM

    @Test func readsPublicKeysAndCertificates() throws {
        #expect(
            try KeySet(file: try Vector.file("public.pem")).keys.map(\.kind) == [
                "RSA 2048", "EC P-256", "OKP Ed25519",
            ])
        #expect(
            try KeySet(file: try Vector.file("certificate.pem")).keys.map(\.kind) == ["EC P-256"])
    }

    @Test(arguments: ["RS256", "PS512", "ES256", "EdDSA"])
    func keysOfPEMVerifyTokensWithAnyKeyID(_ name: String) throws {
        let set = try KeySet(file: try Vector.file("public.pem"))
        let token = try CompactJWS(try Self.vector(name).token)
        let rules = Rules.with(algorithms: SignatureAlgorithm.allCases)
        #expect(try rules.verify(token, with: set, now: 0).expires == 4_102_444_800)
    }

    @Test func theKeyOfACertificateVerifies() throws {
        let set = try KeySet(file: try Vector.file("certificate.pem"))
        let token = try CompactJWS(try Self.vector("ES256").token)
        #expect(try Rules.with(algorithms: [.es256]).verify(token, with: set, now: 0).expires > 0)
    }

    @Test func rejectsKeysInPEMThatAreTooSmallOrPrivate() throws {
        let small = try KeySet(pem: try Vector.file("small.pem"))
        #expect(small.unusable.map(\.reason) == [.size(1024)])
        let text = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        #expect(try KeySet(pem: Bytes(text)).unusable.map(\.reason) == [.privateKey])
    }

    // MARK: Selection

    private func selected(
        _ keys: KeySet, kid: String?, _ algorithm: SignatureAlgorithm
    ) throws -> Result<String, TokenFault> {
        let id = kid.map { ",\"kid\":\"\($0)\"" } ?? ""
        let header = try JOSEHeader(Bytes("{\"alg\":\"\(algorithm.rawValue)\"\(id)}"))
        do throws(TokenFault) {
            let key = try keys.key(for: header, algorithm)
            return .success("\(key.id.map { String($0) } ?? "-") \(key.kind)")
        } catch {
            return .failure(error)
        }
    }

    @Test func theKeyIDSelects() throws {
        let set = try Self.set(try Self.key("ES256"), try Self.key("EdDSA"), try Self.key("RS256"))
        #expect(try selected(set, kid: "key-EdDSA", .edDSA) == .success("key-EdDSA OKP Ed25519"))
        #expect(
            try selected(set, kid: "other", .edDSA)
                == .failure(.untrusted(.unknownKey(Bytes("other")))))
        #expect(
            try selected(set, kid: "key-ES256", .edDSA)
                == .failure(.untrusted(.keyDoesNotFit(Bytes("key-ES256"), .edDSA))))
    }

    /// A key without an id is a guess: if it does not fit, the key of the token is unknown.
    @Test func aKeyWithoutIDIsTriedForAnUnknownOne() throws {
        let plain = try Self.key("RS256", ["kid": ""])
        let set = try Self.set(try Self.key("ES256"), plain)
        #expect(try selected(set, kid: "other", .rs256) == .success("- RSA 2048"))
        let unknown = TokenFault.untrusted(.unknownKey(Bytes("other")))
        #expect(try selected(set, kid: "other", .edDSA) == .failure(unknown))
        let twice = try Self.set(plain, plain)
        #expect(try selected(twice, kid: "other", .rs256) == .failure(unknown))
    }

    @Test func withoutAKeyIDExactlyOneKeyMustFit() throws {
        let set = try Self.set(
            try Self.key("ES256"), try Self.key("RS256"), try Self.key("RS256", ["kid": "\"b\""]))
        #expect(try selected(set, kid: nil, .es256) == .success("key-ES256 EC P-256"))
        #expect(try selected(set, kid: nil, .edDSA) == .failure(.untrusted(.unknownKey(nil))))
        #expect(try selected(set, kid: nil, .rs256) == .failure(.untrusted(.severalKeys)))
    }

    @Test func aKeyIDMayBelongToKeysOfDifferentKinds() throws {
        let id = ["kid": "\"a\""]
        let set = try Self.set(try Self.key("ES256", id), try Self.key("RS256", id))
        #expect(try selected(set, kid: "a", .es256) == .success("a EC P-256"))
        #expect(try selected(set, kid: "a", .ps256) == .success("a RSA 2048"))
        let twice = try Self.set(try Self.key("RS256", id), try Self.key("RS256", id))
        #expect(try selected(twice, kid: "a", .rs256) == .failure(.untrusted(.severalKeys)))
    }

    @Test func theAlgorithmOfAKeyIsTheOnlyOne() throws {
        let set = try Self.set(try Self.key("RS256", ["alg": "\"PS256\""]))
        #expect(try selected(set, kid: nil, .ps256) == .success("key-RS256 RSA 2048"))
        #expect(try selected(set, kid: nil, .rs256) == .failure(.untrusted(.unknownKey(nil))))
    }

    /// The classic attack: a token signed with the public key as the secret of an HMAC.
    @Test func aPublicKeyIsNeverASecret() throws {
        for name in ["RS256", "ES256", "EdDSA"] {
            let set = try Self.set(try Self.key(name))
            #expect(!set.keys[0].fits(.hs256) && !set.keys[0].fits(.hs512))
        }
    }

    @Test func aSecretFitsHashesThatAreNoLonger() {
        let key = KeySet(secret: Bytes([UInt8](repeating: 7, count: 48))).keys[0]
        #expect(key.fits(.hs256) && key.fits(.hs384) && !key.fits(.hs512) && !key.fits(.rs256))
    }
}
