import Testing

/// `HTTP`, `HTTPServer` and `HTTPClient` know HTTP and nothing of the gateway: any HTTP program could use
/// them.
@Suite struct ProtocolTests {
    private static let targets: Set = ["HTTP", "HTTPServer", "HTTPClient"]

    /// Words of the gateway. A name with one of them in code of the protocol belongs into `Gateway`.
    private static let foreign: Set = [
        "aggregate", "authenticator", "breaker", "caller", "credential", "endpoint",
        "endpoints", "gateway", "hedge", "padding", "padded", "quota", "refund", "refunds",
        "router", "scopes",
    ]

    /// Names of HTTP itself: 502 and 504 (RFC 9110 15.6.3, 15.6.5).
    private static let known: Set = ["badGateway", "gatewayTimeout"]

    @Test func protocolNamesNothingOfTheGateway() throws {
        let files = try Sources.all().filter { Self.targets.contains($0.target) }
        #expect(Set(files.map(\.target)) == Self.targets)
        for file in files {
            let names = Self.foreignNames(in: file.bareCode)
            #expect(names.isEmpty, "\(file): \(names.joined(separator: ", "))")
        }
    }

    private static func foreignNames(in code: [UInt8]) -> [String] {
        SourceText.identifiers(in: code).subtracting(known).filter { name in
            !foreign.isDisjoint(with: words(of: name))
        }.sorted()
    }

    /// `limitRefunds` has the words `limit` and `refunds`.
    private static func words(of name: String) -> Set<String> {
        var words: Set<String> = []
        var word = ""
        for character in name {
            if character.isUppercase, !word.isEmpty {
                words.insert(word)
                word = ""
            }
            word += character.lowercased()
        }
        return words.union([word])
    }

    @Test(arguments: ["var limitRefunds: [Int]", "case breakerOpen", "enterEndpoint()", "Caller"])
    func aNameOfTheGatewayIsFound(_ code: String) {
        #expect(!Self.foreignNames(in: SourceText.code(of: code)).isEmpty)
    }

    @Test(arguments: ["case badGateway", "let discharged = 1", "// endpoint", "let s = \"caller\""])
    func otherNamesAreNot(_ code: String) {
        #expect(Self.foreignNames(in: SourceText.code(of: code)).isEmpty)
    }
}
