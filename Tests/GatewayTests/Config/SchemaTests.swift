import Foundation
import Testing

@testable import Gateway

@Suite struct SchemaTests {
    private let schema: [String: Any]
    private let definitions: [String: Any]

    init() throws {
        let json = try JSONSerialization.jsonObject(with: Data(ConfigSchema.text.utf8))
        schema = try #require(json as? [String: Any])
        definitions = try #require(schema["$defs"] as? [String: Any])
    }

    private func keys(_ block: [String: Any]?) -> Set<String> {
        Set((block?["properties"] as? [String: Any] ?? [:]).keys)
    }

    @Test func topLevelHasTheKeysOfTheFile() {
        #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["additionalProperties"] as? Bool == false)
        #expect(schema["required"] as? [String] == ["version"])
        #expect(keys(schema) == Set(Config.keys.map(\.name)))
    }

    /// One definition for each block, though properties contain properties.
    @Test func everyBlockIsDefinedOnce() {
        #expect(
            Set(definitions.keys) == [
                "variable", "Listen", "ListenTLS", "ListenCertificate", "ClientCertificateRule",
                "Admin", "Log", "Metrics",
                "Limits", "Drain", "Clients",
                "Defaults",
                "Backend", "Endpoint", "Queue",
                "Breaker", "Eject", "Health", "Keepalive", "HTTP2", "TLS", "Param", "Forward",
                "Body",
                "Property", "Call", "Retry", "Hedge", "Condition", "UserAgents", "Access",
                "AddressFile", "CORS", "RateLimit", "LimitUse",
                "Traces", "Store", "Authenticator", "APIKeys", "Passwords", "AuthRule", "JWT",
                "TokenKeys", "TokenPlace", "Proxy", "Respond", "Each", "Parts",
            ])
        #expect(keys(definitions["Call"] as? [String: Any]) == Set(Config.Call.keys.map(\.name)))
        #expect(ConfigSchema.text.components(separatedBy: #""$defs""#).count == 2)
    }

    @Test func everyReferenceHasADefinition() {
        let names = ConfigSchema.text.matches(of: ##/"\$ref": "#/\$defs/(\w+)"/##).map {
            String($0.1)
        }
        #expect(!names.isEmpty && Set(names).isSubset(of: definitions.keys))
    }

    @Test func requiresExactlyOneOfAlternativeKeys() throws {
        let backend = try #require(definitions["Backend"] as? [String: Any])
        let all = backend["allOf"] as? [[String: [[String: [String]]]]]
        #expect(all == [["oneOf": [["required": ["url"]], ["required": ["urls"]]]]])
    }

    @Test func everyKeyHasADescription() {
        for (name, definition) in definitions.sorted(by: { $0.key < $1.key }) {
            let members = (definition as? [String: Any])?["properties"] as? [String: [String: Any]]
            for (key, member) in members ?? [:] {
                #expect((member["description"] as? String)?.isEmpty == false, "\(name).\(key)")
            }
        }
    }

    /// The patterns of quantities accept the same units as the decoder.
    @Test(arguments: [
        ("deadline", "1.5s", true), ("deadline", "5 s", false), ("max_body", "64KiB", true),
        ("max_body", "64kb", false),
    ])
    func describesQuantities(_ key: String, _ text: String, _ isRight: Bool) throws {
        let defaults = definitions["Defaults"] as? [String: Any]
        let member = (defaults?["properties"] as? [String: [String: Any]])?[key]
        let forms = try #require(member?["anyOf"] as? [[String: Any]])
        let pattern = try Regex(try #require(forms.first?["pattern"] as? String))
        #expect((text.firstMatch(of: pattern) != nil) == isRight)
    }
}
