import Foundation
import Testing

extension EndToEnd {
    /// `tributary token check`. The tokens are signed with the Ed25519 key whose private part is the
    /// bytes 0 to 31; those that are valid expire in 2100.
    @Suite struct TokenCheckTests {
        private static let header = "eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIn0."
        private static let payload =
            "eyJpc3MiOiJodHRwczovL2lkLnRlc3QvIiwiYXVkIjoic2hvcCIsInN1YiI6ImFubiIsImV4cCI6NDEwMjQ0NDgwMH0"
        private static let signature =
            ".2PnyNpdW3r0tPxUQoV8q2KF6MM9r-Tzz30fjH9XwncBauq0oHRVRhCXC13V7M3gRw3rELT72I2UKdlzPNM6NBw"
        private static let accepted = header + payload + signature

        static let rejected: [(token: String, result: String)] = [
            (
                header
                    + "eyJpc3MiOiJodHRwczovL2lkLnRlc3QvIiwiYXVkIjoic2hvcCIsInN1YiI6ImFubiIsImV4cCI6MTAwMDAwMDAwMH0"
                    + ".26Bx0-zNJ9zmyL10C1Mbldj8jhBKd-yusXEUXS1dQyxrT4LZIZyCWIR5XRaf2Si3Q5HoR3RcOlLPfX5TSz-nAg",
                "expired"
            ),
            (
                header
                    + "eyJpc3MiOiJodHRwczovL2lkLnRlc3QvIiwiYXVkIjoib3RoZXIiLCJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4MDB9"
                    + ".hmyD1wvGERQyd75rJc_DezLu3tOal5z9tJlTwan60TF4a8og5RtT1nKXDMoGF0-6bLAVZAGx_3UQAzEBvLx-Dg",
                "untrusted: aud"
            ),
            (
                "eyJhbGciOiJFZERTQSIsImtpZCI6ImsyIn0." + payload
                    + ".8m5QZYS944XP8vYnS7bd4lK9H9CHdozma4FRIqSAtIX46fwXQvq28NVSHzLVRKKxawE_CnJRf2AT1jl_tChdCA",
                "untrusted: no key"
            ),
            (accepted.dropLast(4) + "AAAA", "untrusted: the signature"),
            (header + payload, "malformed"), ("", "malformed"),
        ]

        private let folder: Folder

        init() throws {
            folder = try Folder([
                "keys.json": """
                {"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}]}
                """,
                "my.yaml": """
                version: 1
                auth:
                  customers:
                    jwt: { issuer: "https://id.test/", audience: shop, algorithms: [EdDSA], keys: { file: keys.json } }
                  fetched:
                    jwt: { issuer: "https://id.test/", audience: shop, algorithms: [EdDSA], keys: { url: "http://127.0.0.1:1/" } }
                  tools: { basic: { keys: tools.yaml } }
                backends: { a: { url: "http://127.0.0.1:1" } }
                endpoints:
                  - { route: GET /x, auth: [customers, fetched, tools], calls: { one: { from: a, get: /1 } } }

                """, "tools.yaml": "[]",
            ])
        }

        private func check(
            _ authenticator: String, _ token: String, _ more: String..., input: String = ""
        ) throws -> Command.Result {
            let command = try Command(
                ["token", "check", "my.yaml", authenticator, token] + more, in: folder.url,
                input: input)
            let status = try command.exitStatus()
            return Command.Result(
                status: status, output: try command.output.whole(),
                errors: try command.errors.whole())
        }

        @Test func acceptedTokenEndsWithStatus0() throws {
            let result = try check("customers", Self.accepted)
            #expect(result.status == 0 && result.errors.isEmpty)
            #expect(result.output.contains(#""sub":"ann""#))
            #expect(result.output.contains("result:   accepted, expires in "))
            #expect(try check("customers", "-", input: Self.accepted + "\n").status == 0)
            #expect(
                try check("customers", "-", input: " \t" + Self.accepted + "\r\n\n").status == 0)
            for rest in [" junk", "\n" + Self.accepted, "\0", " \u{1}"] {
                #expect(try check("customers", "-", input: Self.accepted + rest).status == 1)
            }
        }

        @Test(arguments: rejected)
        func rejectedTokenEndsWithStatus1(_ token: String, _ expected: String) throws {
            let result = try check("customers", token)
            #expect(result.status == 1, "\(result)")
            #expect(result.output.contains("result:   rejected, \(expected)"), "\(result)")
        }

        /// Nothing is sent: without the keys of the issuer, the signature is not checked.
        @Test func keysThatAreFetchedComeFromAFile() throws {
            let forged = Self.accepted.dropLast(4) + "AAAA"
            let unchecked = try check("fetched", String(forged))
            #expect(unchecked.status == 0 && unchecked.output.contains("key:      not checked"))
            #expect(try check("fetched", Self.accepted, "--keys", "keys.json").status == 0)
            #expect(try check("fetched", String(forged), "--keys", "keys.json").status == 1)
        }

        @Test(arguments: ["tools", "unknown"])
        func authenticatorWithoutTokensIsAUsageError(_ name: String) throws {
            let result = try check(name, Self.accepted)
            #expect(result.status == 64 && result.errors.contains("'\(name)'"))
        }
    }
}
