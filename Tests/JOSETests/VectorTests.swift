import Basics
import JSONText
import Testing

@testable import JOSE

/// The examples of the RFCs, and one token of PyJWT's for each algorithm.
@Suite struct VectorTests {
    private func verifies(_ token: CompactJWS, _ keys: KeySet) throws -> Bool {
        let algorithm = try #require(
            SignatureAlgorithm(rawValue: String(token.header.algorithmName)))
        return try keys.key(for: token.header, algorithm).verify(token, algorithm)
    }

    @Test func allVectorsAreThere() {
        #expect(Vector.rfc.count == 9)
        #expect(Vector.algorithms.map(\.source) == SignatureAlgorithm.allCases.map(\.rawValue))
    }

    @Test(arguments: Vector.rfc + Vector.algorithms)
    func acceptsTheSignature(_ vector: Vector) throws {
        #expect(try verifies(try CompactJWS(vector.token), try vector.keySet()))
    }

    /// Each byte of the signature changed, and each byte of what it signs that stays a token.
    @Test(arguments: Vector.rfc + Vector.algorithms)
    func rejectsEveryChangedByte(_ vector: Vector) throws {
        let keys = try vector.keySet()
        let text = vector.token.array
        let dots = text.indices.filter { text[$0] == UInt8(ascii: ".") }
        var rejected = 0
        for offset in stride(from: dots[0] + 1, to: text.count, by: 3) where offset != dots[1] {
            var changed = text
            changed[offset] =
                text[offset] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            guard let token = try? CompactJWS(Bytes(changed)) else { continue }
            #expect(try !verifies(token, keys), "byte \(offset)")
            rejected += 1
        }
        #expect(rejected > 10)
    }

    @Test(arguments: Vector.algorithms)
    func acceptsTheTokenByItsRules(_ vector: Vector) throws {
        let rules = Rules.with(algorithms: SignatureAlgorithm.allCases)
        let token = try CompactJWS(vector.token)
        let claims = try rules.verify(token, with: try vector.keySet(), now: 1_700_000_000)
        #expect(claims.expires == 4_102_444_800)
        #expect(claims.payload.member(Bytes("sub"))?.text == Bytes("alice"))
    }

    /// An algorithm fits its own key only, whatever the token says.
    @Test(arguments: Vector.algorithms, Vector.algorithms)
    func anAlgorithmFitsKeysOfItsFamilyOnly(_ vector: Vector, _ other: Vector) throws {
        let algorithm = try #require(SignatureAlgorithm(rawValue: vector.source))
        let owner = try #require(SignatureAlgorithm(rawValue: other.source))
        let key = try #require(try other.keySet().keys.first)
        let isRSA = [algorithm.family, owner.family].allSatisfy { $0 == .rsa || $0 == .rsaPSS }
        #expect(key.fits(algorithm) == (algorithm.family == owner.family || isRSA))
    }
}

/// The rules of the tokens in `algorithms.json`.
enum Rules {
    static func with(
        issuers: [String]? = ["https://id.example.com/"], audiences: [String]? = ["shop"],
        algorithms: [SignatureAlgorithm] = [.edDSA], type: TokenType? = nil, leeway: Int64 = 30
    ) -> TokenRules {
        TokenRules(
            issuers: issuers?.map { Bytes($0) }, audiences: audiences?.map { Bytes($0) },
            algorithms: algorithms, type: type, leeway: leeway)
    }
}
