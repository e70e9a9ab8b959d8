import Testing

/// The arrows between the targets: an import may only go to a lower row (the table of the README).
@Suite struct ArrowTests {
    /// What each target may import of ours and of the system; the standard library goes without saying.
    static let allowed: [String: Set<String>] = [
        "Basics": ["Synchronization"],
        // The system's C library only tells threads apart.
        "Promises": ["Synchronization", "Glibc", "Musl", "Darwin"],
        "PromiseOperators": ["Promises"],
        "PromisesDispatch": ["Promises", "Dispatch"],
        "JSONText": ["Basics"],
        "HTTP": ["Promises", "Basics"],
        "Reactor": ["Promises", "Basics"],
        "HTTPClient": ["HTTP", "Reactor", "Promises", "Basics"],
        "UVReactor": ["CUV", "Reactor", "Promises", "Basics", "Synchronization"],
        "SimReactor": ["Reactor", "Promises", "Basics"],
        "TLS": ["COpenSSL", "Reactor", "Promises", "Basics", "Synchronization"],
        "YAMLReader": ["CYAML", "Basics"],
        "Gateway": [
            "HTTP", "HTTPClient", "JSONText", "TLS", "YAMLReader", "Reactor", "Promises", "Basics",
        ],
        // For the one count that all workers share, of the connections of each client.
        "HTTPServer": ["HTTP", "Reactor", "Promises", "Basics", "Synchronization"],
        "Assembly": [
            "Gateway", "HTTPServer", "HTTPClient", "HTTP", "Reactor", "Promises", "Basics",
        ],
        "Rehearsal": [
            "Assembly", "SimReactor", "Gateway", "HTTP", "Reactor", "Promises", "Basics",
        ],
        "Simulation": [
            "Rehearsal", "Assembly", "SimReactor", "Gateway", "HTTP", "Reactor", "Promises",
            "Basics", "Synchronization",
        ],
        "cluster-simulation": ["Simulation", "ArgumentParser"],
        "tributary": [
            "Rehearsal", "Assembly", "Gateway", "HTTPServer", "HTTPClient", "HTTP", "YAMLReader",
            "UVReactor", "TLS",
            "JSONText", "Reactor", "Promises", "Basics", "ArgumentParser", "Synchronization",
            "Glibc",
            "Darwin",
        ],
    ]

    @Test func everyImportGoesToALowerRow() throws {
        for file in try Sources.all() {
            let allowed = try #require(Self.allowed[file.target], "no row for \(file.target)")
            for (number, line) in file.code {
                let words = line.split(separator: " ").map(String.init)
                guard let at = words.firstIndex(of: "import"), at + 1 < words.count,
                    words[..<at].allSatisfy({ ["package", "public", "private"].contains($0) })
                else { continue }
                #expect(allowed.contains(words[at + 1]), "\(file):\(number): \(line)")
            }
        }
    }

    @Test func theTableNamesEveryTarget() throws {
        let seen = Set(try Sources.all().map(\.target))
        #expect(seen == Set(Self.allowed.keys))
    }
}
