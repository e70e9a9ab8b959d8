import Basics
import Testing

@testable import JOSE

/// Texts that are no tokens of this module.
@Suite struct CompactJWSTests {
    private static func text(_ header: String, _ payload: String = "{}") -> String {
        "\(Base64URL.encode(header.utf8)).\(Base64URL.encode(payload.utf8)).AAAA"
    }

    private func fault(_ text: String) -> TokenFault? {
        do throws(TokenFault) {
            _ = try CompactJWS(Bytes(text))
            return nil
        } catch {
            return error
        }
    }

    @Test func readsAToken() throws {
        let token = try CompactJWS(
            Bytes(Self.text("{\"alg\":\"RS256\",\"kid\":\"\\u0061\",\"typ\":\"JWT\"}", "text")))
        #expect(token.header.algorithmName == Bytes("RS256"))
        #expect(token.header.keyID == Bytes("a"))
        #expect(token.header.type == Bytes("JWT"))
        #expect(token.payload == Bytes("text"))
    }

    @Test(arguments: [
        ("", TokenFault.Malformation.notThreeParts), ("a", .notThreeParts), ("a.b", .notThreeParts),
        ("a.b.c.d", .notThreeParts), ("a.b.c.d.e.f", .notThreeParts), ("a.b.c.d.e", .encrypted),
        ("....", .encrypted), (".....", .notThreeParts),
    ])
    func rejectsAnyOtherNumberOfParts(_ text: String, _ expected: TokenFault.Malformation) {
        #expect(fault(text) == .malformed(expected))
    }

    @Test func rejectsMoreThan8KiB() {
        let longest = Self.text("{\"alg\":\"x\"}") + String(repeating: "A", count: 8192)
        #expect(fault(String(longest.prefix(8192))) == nil)
        #expect(fault(String(longest.prefix(8193))) == .malformed(.tooLong))
    }

    @Test(arguments: [
        "", "[]", "null", "\"a\"", "{", "{\"alg\":\"a\"} x", "{alg:1}", "{\"alg\":\"\u{1}\"}",
        "{\"alg\":\"a\",}",
    ])
    func rejectsAHeaderThatIsNoObject(_ header: String) {
        #expect(fault(Self.text(header)) == .malformed(.notObject(.header)))
    }

    @Test(arguments: [
        "{\"alg\":\"a\",\"alg\":\"a\"}", "{\"alg\":\"a\",\"\\u0061lg\":\"b\"}",
        "{\"alg\":\"a\",\"x\":{\"y\":1,\"y\":2}}", "{\"alg\":\"a\",\"x\":[[{\"y\":1,\"y\":2}]]}",
    ])
    func rejectsANameThatOccursTwice(_ header: String) {
        #expect(fault(Self.text(header)) == .malformed(.duplicateName(.header)))
    }

    @Test func theSameNameMayOccurInTwoObjects() {
        #expect(fault(Self.text("{\"alg\":\"a\",\"x\":{\"alg\":1},\"y\":{\"alg\":1}}")) == nil)
    }

    @Test func rejectsObjectsDeeperThan16() {
        let nested = { (depth: Int) in
            "{\"alg\":\"a\",\"x\":" + String(repeating: "[", count: depth)
                + String(repeating: "]", count: depth) + "}"
        }
        #expect(fault(Self.text(nested(15))) == nil)
        #expect(fault(Self.text(nested(16))) == .malformed(.notObject(.header)))
    }

    @Test(arguments: [
        ("{}", "alg"), ("{\"alg\":1}", "alg"), ("{\"alg\":null}", "alg"),
        ("{\"alg\":\"a\",\"kid\":1}", "kid"), ("{\"alg\":\"a\",\"typ\":[\"JWT\"]}", "typ"),
    ])
    func rejectsAParameterOfTheWrongType(_ header: String, _ name: String) {
        #expect(fault(Self.text(header)) == .malformed(.parameter(name)))
    }

    @Test(arguments: ["[]", "[\"exp\"]", "null", "[\"b64\"]"])
    func rejectsEveryCriticalExtension(_ list: String) {
        #expect(fault(Self.text("{\"alg\":\"a\",\"crit\":\(list)}")) == .untrusted(.critical))
    }

    @Test func readsNoKeyFromTheHeader() throws {
        let token = try CompactJWS(
            Bytes(Self.text("{\"alg\":\"HS256\",\"jku\":\"https://evil/\",\"jwk\":{\"k\":\"AA\"}}"))
        )
        #expect(token.header.keyID == nil)
    }

    // MARK: Base64url

    private func decoded(_ text: String) -> [UInt8]? { Base64URL.decode(Array(text.utf8).span) }

    @Test(
        arguments: [
            ("", []), ("AA", [0]), ("AAA", [0, 0]), ("AAAA", [0, 0, 0]), ("_-8", [255, 239]),
            ("TWFueQ", Array("Many".utf8)),
        ] as [(String, [UInt8])])
    func decodesBase64url(_ text: String, _ bytes: [UInt8]) {
        #expect(decoded(text) == bytes)
        #expect(Base64URL.encode(bytes) == text)
    }

    @Test(arguments: [
        "A", "AAAAA", "AA=", "AA==", "A+AA", "A/AA", "AA A", "AAA\n", "\u{e9}A", "AB", "AAB", "_w=",
        "AA\0",
    ])
    func rejectsEveryOtherText(_ text: String) {
        #expect(decoded(text) == nil)
    }

    @Test func decodesWhatItEncodes() {
        let entropy = Entropy(seed: 1)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8(entropy.below(256)) }
            #expect(decoded(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        TokenFault.malformed(.encoding(.signature)), .malformed(.encoding(.payload)),
        .malformed(.encoding(.header)),
    ])
    func theFaultNamesThePart(_ expected: TokenFault) {
        var parts = Self.text("{\"alg\":\"a\"}").split(separator: ".").map(String.init)
        guard case .malformed(.encoding(let part)) = expected else { return }
        parts[part == .header ? 0 : part == .payload ? 1 : 2] += "="
        #expect(fault(parts.joined(separator: ".")) == expected)
    }
}
