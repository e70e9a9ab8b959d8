import Foundation
import Testing

@testable import Gateway

/// The values of key files, and what `tributary key new` writes.
@Suite struct KeyFileTests {
    private func time(_ text: String) -> Int64? { try? TimeText.unixTime(text) }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1),
            ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2026-01-01t01:00:00.999+01:00", 1_767_225_600),
            ("2025-12-31T22:30:00-01:30", 1_767_225_600),
            ("2024-02-29T12:00:00z", 1_709_208_000), ("0000-01-01T00:00:00Z", -62_167_219_200),
            ("9999-12-31T23:59:60Z", 253_402_300_799), ("2000-02-29T00:00:00Z", 951_782_400),
        ] as [(String, Int64)])
    func readsTimes(_ text: String, _ expected: Int64) {
        #expect(time(text) == expected)
    }

    @Test(arguments: [
        "", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00Zx",
        "2026-01-01T00:00:00+24:00", "20260101T000000Z", "1767225600",
    ])
    func refusesOtherTexts(_ text: String) {
        #expect(time(text) == nil)
    }

    /// Every day of four centuries, against Foundation.
    @Test func daysAgreeWithFoundation() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for day in stride(from: Int64(-36_525), to: 109_575, by: 17) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let text = String(
                format: "%04d-%02d-%02dT00:00:00Z", parts.year ?? 0, parts.month ?? 0,
                parts.day ?? 0)
            #expect(time(text) == day * 86_400, "\(text)")
        }
    }

    // MARK: New keys

    private struct Counter: RandomNumberGenerator {
        var state: UInt64 = 0
        mutating func next() -> UInt64 {
            state += 0x0123_4567_89AB_CDEF
            return state
        }
    }

    @Test func newKeyHas256Bits() {
        var counter = Counter()
        let key = NewKey(using: &counter)
        // `trb_` and the Base64 of 32 bytes without padding.
        #expect(key.text.count == 4 + 43)
        let base64 =
            key.text.dropFirst(4).replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/") + "="
        let bytes = Data(base64Encoded: base64).map { Array($0) } ?? []
        #expect(bytes.count == 32)
        #expect(Array(bytes.prefix(8)) == [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01])
        #expect(NewKey(using: &counter).text != key.text)
    }

    /// The entry is read again as it was meant, whatever its name is.
    @Test(arguments: ["ann", "true", "42", "a:b", "\"", "-", "{x}", "a#b"])
    func entryOfANewKeyIsValid(_ name: String) throws {
        var counter = Counter()
        let key = NewKey(using: &counter)
        let entry = try key.entry(
            named: name, scopes: ["orders:read", "null"], expires: "2027-01-01T00:00:00Z", plan: "1"
        )
        #expect(!entry.contains(key.text))
        let text = """
            version: 1
            auth: { p: { api_key: { keys: new.yaml } } }
            backends: { a: { url: "http://a" } }
            endpoints: [{ route: GET /, auth: p, calls: { one: { from: a, get: / } } }]
            """
        let (config, problems) = load(["c.yaml": text, "new.yaml": entry])
        let loaded = try #require(
            config?.authenticators.first?.keyFile?.value.entries.first, "\(problems.lines)")
        #expect(loaded.id?.value == name && loaded.plan?.value == "1")
        #expect(loaded.scopes.map(\.value) == ["orders:read", "null"])
        #expect(loaded.expires?.value == 1_798_761_600)
    }

    @Test(
        arguments: [
            ("a b", [], nil, false), ("", [], nil, false), ("a:b", [], nil, true),
            ("a", ["x y"], nil, false),
            ("a", [], "tomorrow", false),
        ] as [(String, [String], String?, Bool)])
    func invalidEntryIsRefused(
        _ name: String, _ scopes: [String], _ expires: String?, _ isBasic: Bool
    ) {
        var counter = Counter()
        let key = NewKey(using: &counter)
        #expect(throws: Refusal.self) {
            try key.entry(named: name, isBasic: isBasic, scopes: scopes, expires: expires)
        }
    }

    /// `check` would refuse the entry.
    @Test func emptyPlanIsRefused() {
        var counter = Counter()
        let key = NewKey(using: &counter)
        #expect(throws: Refusal.self) { try key.entry(named: "a", plan: "") }
        // The positive control.
        #expect(throws: Never.self) { try key.entry(named: "a", plan: "gold") }
    }

    @Test func refusalOfANameIsASentence() {
        var counter = Counter()
        let key = NewKey(using: &counter)
        let error = #expect(throws: Refusal.self) { try key.entry(named: "a b") }
        #expect(
            error?.message
                == "the name must have 1 to 128 visible ASCII characters, without spaces")
    }

    @Test(arguments: [
        ("sha512:00", "the hash function sha512 is not supported"),
        ("MD5:00", "the hash function md5 is not supported"),
        ("mykey", "this looks like a plain-text key"), ("sha512", "looks like a plain-text key"),
    ])
    func refusalOfAHashNamesTheReason(_ text: String, _ reason: String) {
        let error = #expect(throws: Refusal.self) { try KeyHash(parsing: text) }
        #expect(error?.message.contains(reason) == true)
    }

    // MARK: Secrets

    /// No message about a key file quotes what may be a key.
    @Test func messagesQuoteNoSecret() throws {
        let folder = "Tests/Fixtures/plans"
        var files = ["wrong-auth.yaml": try Golden.text("\(folder)/wrong-auth.yaml")]
        for name in Golden.names(in: folder + "/parts/keys", endingIn: ".yaml") {
            files["parts/keys/\(name)"] = try Golden.text("\(folder)/parts/keys/\(name)")
        }
        let lines = load(files, main: "wrong-auth.yaml").problems.lines
        #expect(lines.contains { $0.contains("looks like a plain-text key") })
        for secret in ["my-own", "just-a", "2bd806", "$2y$", "ln=14", "m=65536"] {
            #expect(!lines.contains { $0.contains(secret) }, "\(secret)")
        }
    }
}
