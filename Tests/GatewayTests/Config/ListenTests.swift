import Testing

@testable import Gateway

/// `listen` and `admin`: only an address, or a block.
@Suite struct ListenTests {
    private func process(_ lines: String) throws -> ProcessPlan {
        let (config, problems) = load(["c.yaml": Snippet.top(lines)])
        return try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1).process
    }

    @Test func acceptsAddressAsTextOrBlock() throws {
        let alone = try process("listen: 127.0.0.1:1")
        let block = try process("listen: { address: 127.0.0.1:1 }")
        #expect(alone.listeners == block.listeners)
        #expect(alone.listeners == [ListenPlan(address: .tcp(host: "127.0.0.1", port: 1))])
    }

    @Test func readsListOfAddressesAndBlocks() throws {
        let plan = try process("listen: [127.0.0.1:1, { address: 127.0.0.1:2 }, unix:/run/t.sock]")
        #expect(
            plan.listeners.map(\.address) == [
                .tcp(host: "127.0.0.1", port: 1), .tcp(host: "127.0.0.1", port: 2),
                .unix(path: "/run/t.sock"),
            ])
    }

    @Test func refusesEmptyList() {
        #expect(
            problems(Snippet.top("listen: []")) == ["1:9: error: 'listen' must not be empty"])
    }

    @Test func refusesSchemes() {
        #expect(
            problems(Snippet.top("listen: http://0.0.0.0:8080")) == [
                "1:9: error: 'listen' must be a host and a port without a scheme, such as 127.0.0.1:8080"
            ])
    }

    /// What the kernel accepts.
    @Test(arguments: [(107, 0), (108, 1)])
    func acceptsAPathOfASocketOfAtMost107Bytes(_ count: Int, _ refused: Int) {
        let path = "/" + String(repeating: "x", count: count - 1)
        for text in ["listen: \"unix:\(path)\"", "store: { url: \"unix:\(path)\" }"] {
            let found = problems(Snippet.top(text)).filter { $0.contains("at most 107 bytes") }
            #expect(found.count == refused, "\(text)")
        }
    }

    @Test func refusesTheSameAddressTwice() {
        #expect(
            problems(Snippet.top("listen: [127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:1]")) == [
                "1:36: error: 'listen' has this address twice"
            ])
        #expect(problems(Snippet.top("listen: [127.0.0.1:0, 127.0.0.1:0]")) == [])
    }

    @Test(arguments: ["\"0660\"", "0660", "'0660'"])
    func readsModeAndGroupOfUnixSocket(_ mode: String) throws {
        let process = try process(
            "listen: { address: unix:/run/t.sock, mode: \(mode), group: www-data }")
        #expect(
            process.listeners == [
                ListenPlan(address: .unix(path: "/run/t.sock"), mode: 0o660, group: "www-data")
            ])
    }

    @Test func readsGroupAsNumber() throws {
        let process = try process("admin: { address: unix:/run/t.sock, group: 33 }")
        #expect(process.admin?.listen.group == "33")
        #expect(process.admin?.listen.mode == nil)
    }

    @Test(arguments: ["660", "432", "\"1777\"", "0o660", "\"0680\"", "\"066\"", "rw", "\"\""])
    func refusesModeThatIsNotFourOctalDigits(_ mode: String) {
        let column = 44
        #expect(
            problems(Snippet.top("listen: { address: unix:/run/t.sock, mode: \(mode) }")) == [
                "1:\(column): error: 'mode' in 'listen' must be a file mode of four octal digits,"
                    + " such as \"0660\""
            ])
    }

    @Test(arguments: ["mode: \"0660\"", "group: www"])
    func refusesModeAndGroupOfTCPAddress(_ key: String) {
        let name = key.prefix { $0 != ":" }
        for block in ["listen", "admin"] {
            let found = problems(Snippet.top("\(block): { address: 127.0.0.1:1, \(key) }"))
            #expect(
                found.map { $0.drop { $0 != "e" } } == [
                    "error: '\(name)' of '\(block)' applies only to unix: addresses,"
                        + " and this is host:port"
                ])
        }
    }

    @Test func requiresAddress() {
        #expect(
            problems(Snippet.top("listen: { mode: \"0660\" }")) == [
                "1:9: error: the key 'address' is missing in 'listen'"
            ])
    }

    @Test func reportsInvalidAddressAtItsLocation() {
        #expect(
            problems(Snippet.top("listen: { address: 8080 }")) == [
                "1:20: error: 'address' in 'listen' must have a host: 127.0.0.1:8080, or 0.0.0.0:8080 for all interfaces"
            ])
    }

    private static let openPages =
        "warning: 'admin' may be reached from other networks and has no 'token': set one, or"
        + " 'token: none' where a firewall protects the address"

    @Test(arguments: [
        ("0.0.0.0:9901", true), ("\"[::]:9901\"", true), ("203.0.113.7:9901", true),
        ("\"[2001:db8::1]:9901\"", true), ("gateway.example.com:9901", true),
        ("127.0.0.1:9901", false), ("\"[::1]:9901\"", false), ("localhost:9901", false),
        ("10.1.2.3:9901", false), ("172.31.0.1:9901", false), ("192.168.0.1:9901", false),
        ("\"[fd00::1]:9901\"", false), ("\"[fe80::1]:9901\"", false), ("gateway:9901", false),
        ("gateway.shop.svc.cluster.local:9901", false), ("unix:/run/admin.sock", false),
    ])
    func warnsOfPublicAdminAddressWithoutToken(_ address: String, isPublic: Bool) {
        #expect(
            problems(Snippet.top("admin: \(address)"))
                == (isPublic ? ["1:8: \(Self.openPages)"] : []))
    }

    @Test(arguments: ["token: none", "token: \"${ADMIN_TOKEN:-0123456789abcdef}\""])
    func tokenOfAdminAddressEndsWarning(_ token: String) {
        let text = Snippet.top("admin: { address: 0.0.0.0:9901, \(token) }")
        #expect(problems(text) == [])
    }

    @Test func noTokenIsRequiredWithTokenNone() throws {
        let text = Snippet.top("admin: { address: 0.0.0.0:9901, token: none }")
        let admin = try #require(load(["c.yaml": text]).config?.admin)
        #expect(try #require(AdminPlan(admin)).token == nil)
    }

    /// A placeholder of a variable opens no page.
    @Test func noTokenIsWrittenInTheFileItself() {
        let text = Snippet.top("admin: { address: 0.0.0.0:9901, token: \"${TOKEN}\" }")
        let problems = load(["c.yaml": text], environment: ["TOKEN": "none"]).problems.lines
        #expect(
            problems.contains { $0.contains("'token' in 'admin' must be 16 to 512") }, "\(problems)"
        )
    }

    @Test func refusesTheSameAddressForListenAndAdmin() {
        let list = "listen: [127.0.0.1:2, 127.0.0.1:1]\nadmin: { address: 127.0.0.1:1 }"
        #expect(
            problems(Snippet.top(list)) == [
                "2:19: error: 'admin' has an address of 'listen'; it needs another one"
            ])
        let both = "listen: { address: 127.0.0.1:1 }\nadmin: { address: 127.0.0.1:1 }"
        #expect(
            problems(Snippet.top(both)) == [
                "2:19: error: 'admin' has an address of 'listen'; it needs another one"
            ])
    }

    // MARK: Hosts of the admin address

    @Test(arguments: [
        ("admin: 127.0.0.1:1", ["127.0.0.1"]), ("admin: ops.internal:1", ["ops.internal"]),
        ("admin: { address: unix:/run/a.sock }", []),
        (
            "admin: { address: ops.internal:1, hosts: [ops.example.com, gw] }",
            ["ops.example.com", "gw", "ops.internal"]
        ),
    ])
    func readsHostsOfAdmin(_ line: String, _ hosts: [String]) throws {
        #expect(try process(line).admin?.hosts == hosts)
    }

    @Test(arguments: ["[\"ops.example.com:9901\"]", "[\"*\"]", "[]", "\"x\""])
    func refusesInvalidHosts(_ hosts: String) {
        #expect(
            problems(Snippet.top("admin: { address: 127.0.0.1:1, hosts: \(hosts) }")).count == 1)
    }

    // MARK: Token of the admin address

    @Test(arguments: [
        "0123456789abcdef", "aZ-._~+/aZ-._~+/==", "1234567890123456",
        String(repeating: "k", count: 512),
    ])
    func readsToken(_ token: String) throws {
        let text = Snippet.top("admin: { address: 127.0.0.1:1, token: \"${T}\" }")
        let (config, problems) = load(["c.yaml": text], environment: ["T": token])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        #expect(plan.process.admin?.token == token)
        #expect(problems.isEmpty)
    }

    /// No message quotes it.
    @Test(arguments: [
        "s3cr3t", "", "s3cr3ts3cr3ts3c", "s3cr3t s3cr3t s3cr3t", "s3cr3t=s3cr3t=s3cr3t",
        "s3cr3t\u{e9}s3cr3ts3cr3t",
        "s3cr3t" + String(repeating: "s", count: 507),
    ])
    func refusesTokenThatDoesNotFitIntoTheHeader(_ token: String) {
        let message =
            "error: 'token' in 'admin' must be 16 to 512 letters, digits or characters of -._~+/,"
            + " with = only at its end"
        let block = "admin: { address: 127.0.0.1:1, token: "
        #expect(problems(Snippet.top(block + "\"\(token)\" }")) == ["1:39: " + message])
        #expect(
            problems(Snippet.top(block + "\"${T}\" }"), environment: ["T": token]) == [
                "1:39: \(message) (the value comes from '${T}')"
            ])
    }

    @Test func warnsOfTokenInTheFile() {
        let text = Snippet.top("admin: { address: 127.0.0.1:1, token: 0123456789abcdef }")
        #expect(
            problems(text) == [
                "1:39: warning: 'token' of 'admin' is written in the file; use ${file:/path} or"
                    + " ${NAME}, so that the file has no secret"
            ])
    }
}
