import Reactor
import Testing

@testable import Gateway

/// `allow` and `deny`, in the configuration and in files.
@Suite struct AddressRuleTests {
    /// The rule of `clients: { ... }`.
    private func rule(_ lists: String, file: String = "") throws -> AddressRule {
        let (config, problems) = load(["c.yaml": Snippet.top("clients: \(lists)"), "l.txt": file])
        let clients = try #require(config?.clients, "\(problems.lines)")
        return try #require(
            AddressRule(allow: clients.allow?.value, deny: clients.deny?.value))
    }

    @Test(arguments: [
        ("{ deny: [10.0.0.0/8] }", "10.0.0.1", false), ("{ deny: [10.0.0.0/8] }", "11.0.0.1", true),
        ("{ deny: [10.0.0.0/8] }", "::1", true), ("{ deny: [10.0.0.0/8] }", nil, true),
        ("{ deny: [unix] }", nil, false), ("{ deny: [unix] }", "10.0.0.1", true),
        ("{ allow: [10.0.0.0/8] }", "10.0.0.1", true),
        ("{ allow: [10.0.0.0/8] }", "11.0.0.1", false), ("{ allow: [10.0.0.0/8] }", nil, false),
        ("{ allow: [10.0.0.0/8, unix] }", nil, true), ("{ allow: [\"::1\"] }", "::1", true),
        // A denied address is not allowed, whatever the order.
        ("{ allow: [10.0.0.0/8], deny: [10.1.0.0/16] }", "10.1.0.1", false),
        ("{ allow: [10.0.0.0/8], deny: [10.1.0.0/16] }", "10.2.0.1", true),
        ("{ deny: [10.0.0.0/8], allow: [10.1.0.0/16] }", "10.1.0.1", false),
        ("{ deny: [10.0.0.0/8], allow: [10.1.0.0/16] }", "11.0.0.1", false),
    ])
    func accepts(_ lists: String, _ address: String?, _ isAccepted: Bool) throws {
        let address = try address.map { try #require(IPAddress($0)) }
        #expect(
            try rule(lists).accepts(address.map { .ip($0) } ?? .unixSocket) == isAccepted)
    }

    /// It is neither on a unix socket nor at an address that is not denied.
    @Test(arguments: [
        "{ deny: [10.0.0.0/8] }", "{ deny: [unix] }", "{ allow: [unix] }",
        "{ allow: [0.0.0.0/1, 128.0.0.0/1, unix] }",
    ])
    func refusesUnknownClient(_ lists: String) throws {
        #expect(try !rule(lists).accepts(.unknown))
    }

    @Test func readsFile() throws {
        let file = "# first\n\n  10.0.0.0/8  # inner\r\n2001:db8::/32\t\r\nunix\r\n192.0.2.1"
        let rule = try rule("{ allow: { file: l.txt } }", file: file)
        for accepted in ["10.1.1.1", "2001:db8::1", "192.0.2.1"] {
            #expect(rule.accepts(.ip(try #require(IPAddress(accepted)))))
        }
        #expect(rule.accepts(.unixSocket) && !rule.accepts(.ip(.v4(1))))
        #expect(rule.text == "allow 4 entries from l.txt")
    }

    @Test(arguments: [
        ("10.0.0.0/8\n\nnonsense\n", 3), ("10.0.0.1/8", 1), ("10.0.0.0/8 10.1.0.0/16", 1),
        ("# ok\n10.0.0.0/8,", 2), ("010.0.0.1", 1), ("\u{e4}", 1),
    ])
    func refusesFileWithAnotherLine(_ file: String, _ line: Int) {
        let lines = load([
            "c.yaml": Snippet.top("clients: { deny: { file: l.txt } }"), "l.txt": file,
        ]).problems.lines
        #expect(
            lines.first
                == "c.yaml:1:26: error: 'deny' in 'clients' must name a file with one network or"
                + " address per line; line \(line) of 'l.txt' is neither")
    }

    @Test(arguments: [
        ("deny: { file: empty.txt }", nil),
        (
            "allow: { file: empty.txt }",
            "'allow' of 'clients' has no entry, so every client would get 403"
        ),
        ("allow: { file: none.txt }", "'file' in 'allow' of 'clients' cannot be read"),
        ("allow: [0.0.0.0/0, \"::/0\"]", "'allow' of 'clients' has every address"),
        ("deny: [0.0.0.0/0, \"::/0\"]", "every client gets 403"),
        ("deny: [0.0.0.0/0]", nil), ("allow: 10.0.0.0/8", "must be a list"),
        ("allow: { files: a }", "unknown key 'files'"),
    ])
    func reports(_ list: String, _ expected: String?) {
        let lines = load([
            "c.yaml": Snippet.top("clients: { \(list) }"), "empty.txt": "# nothing\n",
        ]).problems.lines
        #expect(
            expected.map { text in lines.contains { $0.contains(text) } } ?? (lines.count <= 1),
            "\(lines)")
    }

    /// The list is read by the configuration's loader, so that a reload reads it again.
    @Test func listOfAnEndpointIsItsOwn() throws {
        let (config, problems) = load([
            "c.yaml": Snippet.endpoint(
                "clients: { deny: [10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4] }")
        ])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        #expect(plan.entry.clients == nil)
        #expect(plan.endpoints[0].clients?.text == "deny 4 entries")
        #expect(plan.endpoints[0].clients?.accepts(.ip(.v4(0x0A00_0001))) == false)
    }
}
