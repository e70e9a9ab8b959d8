import Assembly
import Foundation
import Gateway
import HTTP
import TestSupport
import Testing
import WorkerSupport

/// `rate_limits` in virtual time: which requests reach the backends, and the responses to all
/// others. The harness's clients are on 127.0.0.1.
@Suite(.watched) struct RateLimitTests {
    private func statuses(_ harness: GatewayHarness, _ count: Int, _ text: String = get()) throws
        -> [Int]
    {
        try (0..<count).map { _ in try harness.fetch(text).status }
    }

    // MARK: One limit

    @Test func grantsTheBurstAndThenTheRate() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 10/s, burst: 3, key: address }", "[it]")
        #expect(try statuses(harness, 5) == [200, 200, 200, 429, 429])
        harness.pass(99)
        #expect(try statuses(harness, 1) == [429])
        harness.pass(1)
        #expect(try statuses(harness, 2) == [200, 429])
        harness.pass(10_000)
        #expect(try statuses(harness, 4) == [200, 200, 200, 429])
        #expect(harness.seen.count == 7)
        harness.expectQuiet()
    }

    @Test func announcesWhatIsLeft() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 100/m, burst: 3, key: address }", "[it]")
        let expected = [(2, 1), (1, 2), (0, 2)]
        for (remaining, seconds) in expected {
            let response = try harness.fetch()
            #expect(response.status == 200)
            #expect(response["RateLimit-Policy"] == #""it";q=100;w=60"#)
            #expect(response["RateLimit"] == #""it";r=\#(remaining);t=\#(seconds)"#)
            #expect(response["Retry-After"] == nil)
        }
        harness.expectQuiet()
    }

    @Test func refusesWithAProblem() throws {
        let harness = try GatewayHarness.limited("it: { rate: 1/m, key: address }", "[it]")
        #expect(try harness.fetch().status == 200)
        harness.pass(20_500)
        let response = try harness.fetch(get("/x", "X-Request-Id: r"))
        #expect(response.status == 429)
        #expect(
            response.body
                == #"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","#
                + #""title":"Too Many Requests","status":429,"instance":"r","reason":"quota","#
                + #""violated-policies":["it"]}"#)
        #expect(response["Content-Type"] == "application/problem+json")
        // 39.5 s, rounded up.
        #expect(response["Retry-After"] == "40")
        #expect(response["RateLimit-Policy"] == #""it";q=1;w=60"#)
        #expect(response["RateLimit"] == #""it";r=0;t=40"#)
        harness.pass(39_000)
        #expect(try harness.fetch().status == 429)
        harness.pass(500)
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    /// The gateway itself is overloaded, whatever this client does.
    @Test func aLimitWithoutKeyIs503() throws {
        let harness = try GatewayHarness.limited("all: { rate: 1/s }", "[all]")
        #expect(try harness.fetch().status == 200)
        let response = try harness.fetch()
        #expect(response.status == 503 && response["Retry-After"] == "1")
        #expect(response.body.contains(#""reason":"quota","violated-policies":["all"]"#))
        harness.expectQuiet()
    }

    @Test(arguments: [("always", true, true), ("refused", false, true), ("never", false, false)])
    func announceDecidesAboutTheFields(_ announce: String, _ granted: Bool, _ refused: Bool) throws
    {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/s, key: address, announce: \(announce) }", "[it]")
        let first = try harness.fetch()
        #expect(first.status == 200)
        #expect((first["RateLimit"] != nil) == granted)
        #expect((first["RateLimit-Policy"] != nil) == granted)
        let second = try harness.fetch()
        #expect(second.status == 429 && second["Retry-After"] == "1")
        #expect((second["RateLimit"] != nil) == refused)
        #expect((second["RateLimit-Policy"] != nil) == refused)
        harness.expectQuiet()
    }

    @Test func aRequestCountsAsItsCost() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 10/s, key: address }", "[{ limit: it, cost: 4 }]")
        #expect(try statuses(harness, 3) == [200, 200, 429])
        harness.pass(199)
        #expect(try statuses(harness, 1) == [429])
        harness.pass(1)
        #expect(try statuses(harness, 1) == [200])
        harness.expectQuiet()
    }

    /// An empty list, a missing one and a value that is not a list count as one.
    @Test func aRequestCountsAsTheElementsOfItsList() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 10/s, key: address }",
            "[{ limit: it, cost: \"{count(request.body.ids)}\" }]",
            "route: POST /x", call: "one: { from: a, post: \"/1\" }")
        func statuses(_ lists: String...) throws -> [Int] {
            try lists.map { try harness.fetch(post("{\"ids\":\($0)}", to: "/x")).status }
        }
        #expect(
            try statuses("[1,2,3,4]", "[[1,2],{},3,4]", "[1,2,3]", "[1,2]") == [200, 200, 429, 200])
        #expect(try statuses("[]", "7", "null") == [429, 429, 429])
        harness.pass(300)
        #expect(try statuses("[]", "7", "null", "[]") == [200, 200, 200, 429])
        harness.pass(100)
        #expect(try harness.fetch(post("{}", to: "/x")).status == 200)
        #expect(try harness.fetch(post("{}", to: "/x")).status == 429)
        // More than the burst, also with a full bucket.
        harness.pass(10_000)
        #expect(try statuses("[1,2,3,4,5,6,7,8,9,0,1]", "[1,2,3,4,5,6,7,8,9,0]") == [429, 200])
        harness.expectQuiet()
    }

    /// Parameters of the query are a list, too. A limit behind it that refuses refunds as much as was charged.
    @Test func theCostOfAListIsRefunded() throws {
        let count = "{ limit: it, cost: \"{count(request.query.id)}\" }"
        let harness = try GatewayHarness.limited(
            "it: { rate: 10/s, key: address }, by: { rate: 1/m, key: \"{request.header.X-T}\" }",
            "[\(count), { limit: by, when: { value: \"{request.body.t}\", is: \"1\" } }]",
            "route: POST /x",
            call: "one: { from: a, post: \"/1\" }")
        func status(_ ids: Int, _ body: String = "{}") throws -> Int {
            let query = (0..<ids).map { "id=\($0)" }.joined(separator: "&")
            return try harness.fetch(post(body, to: "/x?\(query)")).status
        }
        #expect(try status(2, #"{"t":"1"}"#) == 200)
        #expect(try status(8, #"{"t":"1"}"#) == 429)
        #expect(try status(9) == 429)
        #expect(try status(8) == 200)
        #expect(try status(0) == 429)
        harness.expectQuiet()
    }

    // MARK: Keys

    /// Requests that are counted together, and one that is not.
    @Test(arguments: [
        ("\"{request.header.X-T}\"", [["X-T: a"], ["x-t: a"]], ["X-T: b"]),
        (
            "[\"{request.header.X-T}\", \"{request.header.X-U}\"]",
            [["X-T: a", "X-U: b"], ["X-U: b", "X-T: a"]], ["X-T: ab", "X-U:"]
        ),
        // Without a value the address counts; it is not mistaken for one.
        ("\"{request.header.X-T}\"", [[], []], ["X-T: 127.0.0.1"]),
        ("[address, \"{request.header.X-T}\"]", [["X-T: a"], ["X-T: a"]], ["X-T: b"]),
    ])
    func countsByAHeader(_ key: String, _ same: [[String]], _ other: [String]) throws {
        let harness = try GatewayHarness.limited("it: { rate: 1/s, key: \(key) }", "[it]")
        #expect(try harness.fetch(request("GET", "/x", same[0])).status == 200)
        #expect(try harness.fetch(request("GET", "/x", same[1])).status == 429)
        #expect(try harness.fetch(request("GET", "/x", other)).status == 200)
        harness.expectQuiet()
    }

    @Test func countsByParameterAndBody() throws {
        let route = "route: POST /x/{id}\nparams: { id: { type: integer } }"
        let harness = try GatewayHarness.limited(
            "by_id: { rate: 1/s, key: \"{id}\" },"
                + " by_user: { rate: 2/s, key: \"{request.body.user}\" }",
            "[by_id, by_user]", route, call: "one: { from: a, post: \"/1\" }")
        func status(_ id: String, _ body: String) throws -> Int {
            try harness.fetch(post(body, to: "/x/\(id)")).status
        }
        let ann = #"{"user":"ann"}"#
        #expect(try status("1", ann) == 200)
        #expect(try status("1", ann) == 429)
        #expect(try status("2", ann) == 200)
        #expect(try status("3", ann) == 429, "the user has used both requests")
        #expect(try status("3", #"{"user":"ben"}"#) == 200, "and the id was refunded")
        #expect(try status("4", "{}") == 200, "without a user the address counts")
        // An invalid request is not charged.
        #expect(try status("x", #"{"user":"cid"}"#) == 400)
        #expect(try status("5", #"{"user":"cid"}"#) == 200)
        #expect(try status("6", #"{"user":"cid"}"#) == 200)
        harness.expectQuiet()
    }

    /// A backend reads the numbers as equal, so a client must not get a bucket with each spelling.
    @Test func countsNumbersInAnySpelling() throws {
        let route = "route: POST /x/{n}\nparams: { n: { type: number } }"
        let harness = try GatewayHarness.limited(
            "by_user: { rate: 1/m, key: \"{request.body.user}\" },"
                + " by_n: { rate: 1/m, key: \"{n}\" }", "[by_user, by_n]", route,
            call: "one: { from: a, post: \"/1\" }")
        var number = 0
        func user(_ user: String) throws -> Int {
            number += 1
            return try harness.fetch(post(#"{"user":\#(user)}"#, to: "/x/\(number)")).status
        }
        #expect(try user("1") == 200)
        for spelling in ["1", "1.0", "1e0", "10e-1", "0.1E+1", #""1""#] {
            #expect(try user(spelling) == 429, "\(spelling)")
        }
        // The positive control: other values.
        for other in ["2", "10", "-1", #""1.0""#, "0.5"] {
            #expect(try user(other) == 200, "\(other)")
        }
        #expect(try user("-0") == 200)
        #expect(try user("0") == 429)
        func status(_ n: String) throws -> Int {
            number += 1
            return try harness.fetch(post(#"{"user":"u\#(number)"}"#, to: "/x/\(n)")).status
        }
        #expect(try status("70") == 200)
        for spelling in ["70.0", "7e1", "700e-1"] { #expect(try status(spelling) == 429) }
        #expect(try status("71") == 200)
        harness.expectQuiet()
    }

    /// The debt of a former rate does not outlive it.
    @Test func reloadAppliesAnotherRateAtOnce() throws {
        let harness = try GatewayHarness.limited("it: { rate: 2/d, key: address }", "[it]")
        #expect(try statuses(harness, 3) == [200, 200, 429])
        try harness.install(
            GatewayHarness.text(
                GatewayHarness.oneCall, "rate_limits: [it]", "",
                "rate_limits: { it: { rate: 100/s, key: address } }"))
        let response = try harness.fetch()
        #expect(response.status == 429 && response["Retry-After"] == "1")
        harness.pass(10)
        #expect(try statuses(harness, 2) == [200, 429])
        // The positive control: the same rate keeps the debt.
        try harness.install(
            GatewayHarness.text(
                GatewayHarness.oneCall, "rate_limits: [it]", "",
                "rate_limits: { it: { rate: 100/s, key: address } }"))
        #expect(try statuses(harness, 1) == [429])
        harness.expectQuiet()
    }

    @Test func countsByCaller() throws {
        let files = [
            "keys.yaml": Keys.entry("ann", "key-of-ann") + Keys.entry("ann", "other-of-ann")
                + Keys.entry("ben", "key-of-ben")
        ]
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/s, key: caller }", "[it]", "auth: keys",
            top: "auth: { keys: { api_key: { header: X-Api-Key, keys: keys.yaml } } }",
            files: files)
        #expect(try harness.fetch(get("/x", "X-Api-Key: key-of-ann")).status == 200)
        #expect(try harness.fetch(get("/x", "X-Api-Key: other-of-ann")).status == 429)
        #expect(try harness.fetch(get("/x", "X-Api-Key: key-of-ben")).status == 200)
        #expect(try statuses(harness, 3) == [401, 401, 401], "not charged without a credential")
        harness.expectQuiet()
    }

    /// A limit by address is above the authentication, so it also bounds guesses.
    @Test func limitByAddressCountsBeforeTheAuthentication() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 2/s, key: address }", "[it]", "auth: keys",
            top: "auth: { keys: { api_key: { header: X-Api-Key, keys: keys.yaml } } }",
            files: ["keys.yaml": Keys.entry("ann", "key-of-ann")])
        #expect(try statuses(harness, 3) == [401, 401, 429])
        harness.expectQuiet()
    }

    /// An IPv6 client can choose its address from a network.
    @Test(arguments: [
        ("", "2001:db8::1", "2001:db8::ffff:2", true),
        ("", "2001:db8::1", "2001:db8:0:1::1", false),
        (", ipv6_prefix: 48", "2001:db8::1", "2001:db8:0:1::1", true),
        (", ipv6_prefix: 48", "2001:db8::1", "2001:db8:1::1", false),
        (", ipv6_prefix: 128", "2001:db8::1", "2001:db8::2", false),
        (", ipv6_prefix: 128", "2001:db8::1", "2001:db8:0::1", true),
        (", ipv6_prefix: 96", "2001:db8::1", "2001:db8::ffff", true),
        ("", "10.0.0.1", "10.0.0.2", false), ("", "10.0.0.1", "::ffff:10.0.0.1", true),
    ])
    func countsAddressesByNetwork(
        _ clients: String, _ first: String, _ second: String, _ isSame: Bool
    ) throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/s, key: address }", "[it]",
            top: "clients: { trusted_proxies: [127.0.0.1]\(clients) }")
        #expect(try harness.fetch(get("/x", "X-Forwarded-For: \(first)")).status == 200)
        let second = try harness.fetch(get("/x", "X-Forwarded-For: \(second)"))
        #expect(second.status == (isSame ? 429 : 200))
        harness.expectQuiet()
    }

    // MARK: Plans

    @Test func plansHaveRatesOfTheirOwn() throws {
        let files = [
            "keys.yaml": Keys.entry("ann", "key-of-ann", "plan: gold")
                + Keys.entry("ben", "key-of-ben", "plan: unknown") + Keys.entry("cid", "key-of-cid")
        ]
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/s, key: caller, plans: { gold: 3/s } }", "[it]", "auth: keys",
            top: "auth: { keys: { api_key: { header: X-Api-Key, keys: keys.yaml } } }",
            files: files)
        for (key, granted, policy) in [("ann", 3, 3), ("ben", 1, 1), ("cid", 1, 1)] {
            for _ in 0..<granted {
                let response = try harness.fetch(get("/x", "X-Api-Key: key-of-\(key)"))
                #expect(response.status == 200)
                #expect(response["RateLimit-Policy"] == #""it";q=\#(policy);w=1"#)
            }
            #expect(try harness.fetch(get("/x", "X-Api-Key: key-of-\(key)")).status == 429)
        }
        harness.expectQuiet()
    }

    @Test func planComesFromAReference() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/s, key: address, plans: { gold: 2/s }, plan: \"{request.header.X-P}\" }",
            "[it]")
        #expect(try statuses(harness, 3, get("/x", "X-P: gold")) == [200, 200, 429])
        harness.pass(5000)
        #expect(try statuses(harness, 2, get("/x", "X-P: tin")) == [200, 429])
        harness.expectQuiet()
    }

    /// With one bucket for all plans, the requests of a high rate would use up the lower ones.
    @Test(arguments: ["", "key: address, "])
    func plansHaveBucketsOfTheirOwn(_ key: String) throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 2/h, \(key)plans: { gold: 3/h, tin: 1/h }, plan: \"{request.header.X-P}\" }",
            "[it]")
        let status = key.isEmpty ? 503 : 429
        let gold = get("/x", "X-P: gold")
        #expect(try statuses(harness, 4, gold) == [200, 200, 200, status])
        #expect(try statuses(harness, 2, get("/x", "X-P: tin")) == [200, status])
        #expect(try statuses(harness, 3) == [200, 200, status])
        #expect(try statuses(harness, 1, get("/x", "X-P: none")) == [status], "the base rate")
        harness.expectQuiet()
    }

    // MARK: Several limits

    @Test func chargesAllLimitsOrNone() throws {
        let harness = try GatewayHarness.limited(
            "many: { rate: 3/s, key: address }, few: { rate: 1/s, key: \"{request.query.k}\" }",
            "[many, few]")
        #expect(try harness.fetch(get("/x?k=a")).status == 200)
        // Refused by `few`: `many` is refunded each time.
        for _ in 0..<5 {
            let response = try harness.fetch(get("/x?k=a"))
            #expect(response.status == 429)
            #expect(response.body.contains(#""violated-policies":["few"]"#))
            #expect(response["RateLimit"] == #""few";r=0;t=1"#)
            #expect(response.count("RateLimit") == 1 && response.count("RateLimit-Policy") == 1)
        }
        let granted = try harness.fetch(get("/x?k=b"))
        #expect(granted["RateLimit"] == #""many";r=1;t=1, "few";r=0;t=1"#)
        #expect(granted["RateLimit-Policy"] == #""many";q=3;w=1, "few";q=1;w=1"#)
        #expect(try harness.fetch(get("/x?k=c")).status == 200)
        let refused = try harness.fetch(get("/x?k=d"))
        #expect(refused.body.contains(#""violated-policies":["many"]"#))
        harness.expectQuiet()
    }

    @Test func refundsLimitsOfEarlierPositions() throws {
        let harness = try GatewayHarness.limited(
            "early: { rate: 2/h, key: address }, late: { rate: 1/s, key: \"{k}\" }",
            "[late, early]", "params: { k: {} }")
        let first = try harness.fetch(get("/x?k=a"))
        #expect(first.count("RateLimit") == 2, "one line for each position")
        for _ in 0..<3 {
            let refused = try harness.fetch(get("/x?k=a"))
            #expect(refused.status == 429)
            #expect(refused.body.contains(#"["late"]"#))
            #expect(refused.count("RateLimit") == 1, "what was refunded is not announced")
            #expect(refused["RateLimit"] == #""late";r=0;t=1"#)
        }
        #expect(try harness.fetch(get("/x?k=b")).status == 200)
        #expect(try harness.fetch(get("/x?k=c")).status == 429)
        let counts = try #require(harness.instance?.snapshot.limitUsages)
        #expect(
            counts.map { "\($0.name) \($0.granted) \($0.refused) \($0.refunded)" } == [
                "early 5 1 3", "late 2 3 0",
            ])
        harness.expectQuiet()
    }

    /// What time has paid of a charge is not returned. Otherwise the bucket would grant three requests
    /// within 0.82 s, with a burst of two and one each second.
    @Test func aRefundAfterASlowBodyGrantsNoMoreThanTheRate() throws {
        let harness = try GatewayHarness.limited(
            "early: { rate: 1/s, burst: 2, key: address },"
                + " late: { rate: 1/h, key: \"{request.body.user}\" }",
            "[early, late]", "route: POST /x", call: "one: { from: a, post: \"/1\" }")
        func status(_ user: String) throws -> Int {
            try harness.fetch(post(#"{"user":"\#(user)"}"#)).status
        }
        #expect(try status("ann") == 200)
        harness.pass(5_000)
        // Charged by `early` with its head, and refused by `late` with its body.
        let slow = try harness.send(String(post(#"{"user":"ann"}"#).dropLast()))
        harness.pass(200)
        #expect(try status("ben") == 200)
        harness.pass(700)
        slow.send("}")
        let refused = harness.response(of: slow)
        #expect(refused.status == 429)
        #expect(refused.body.contains(#"["late"]"#))
        harness.pass(50)
        #expect(try status("cid") == 200, "of 1 s that was charged, 0.1 s is returned")
        harness.pass(70)
        #expect(try status("dan") == 429)
        harness.pass(1_000)
        #expect(try status("dan") == 200)
        harness.expectQuiet()
    }

    @Test func namesAllLimitsThatRefuse() throws {
        let harness = try GatewayHarness.limited(
            "a: { rate: 1/s, key: address }, b: { rate: 1/m, key: address },"
                + " c: { rate: 9/s, key: address }", "[a, b, c]")
        #expect(try harness.fetch().status == 200)
        let response = try harness.fetch()
        #expect(response.body.contains(#""violated-policies":["a","b"]"#))
        #expect(response["Retry-After"] == "60", "the longest wait")
        #expect(response["RateLimit"] == #""a";r=0;t=1, "b";r=0;t=60"#)
        harness.expectQuiet()
    }

    @Test func endpointsShareALimit() throws {
        let config =
            GatewayHarness.text(
                GatewayHarness.oneCall, "", "",
                """
                rate_limits: { it: { rate: 2/s, key: address }, own: { rate: 1/s, key: address } }
                defaults: { rate_limits: [it] }
                """) + "\n  - { route: GET /y, calls: { one: { from: a, get: /1 } } }"
            + "\n  - { route: GET /own, rate_limits: [own], calls: { one: { from: a, get: /1 } } }"
            + "\n  - { route: GET /free, rate_limits: [], calls: { one: { from: a, get: /1 } } }\n"
        let harness = try GatewayHarness(config: config)
        #expect(try harness.fetch(get("/x")).status == 200)
        #expect(try harness.fetch(get("/y")).status == 200)
        #expect(try harness.fetch(get("/x")).status == 429)
        #expect(try statuses(harness, 2, get("/own")) == [200, 429])
        #expect(try statuses(harness, 3, get("/free")) == [200, 200, 200])
        // Neither an unknown path nor another method is a request of an endpoint.
        #expect(try harness.fetch(get("/z")).status == 404)
        #expect(try harness.fetch(request("DELETE", "/x")).status == 405)
        harness.expectQuiet()
    }

    // MARK: A rejection is a response of its endpoint

    @Test func rejectionIsPadded() throws {
        for (limit, use) in [("address", "/x?k=1"), ("\"{k}\"", "/x?k=1")] {
            let harness = try GatewayHarness.limited(
                "it: { rate: 1/m, key: \(limit) }", "[it]",
                "params: { k: {} }\nmin_duration: 300ms\ndeadline: 250ms")
            #expect(try harness.fetch(get(use)).outcome == "200 at 300")
            #expect(try harness.fetch(get(use)).outcome == "429 at 300")
            harness.expectQuiet()
        }
    }

    @Test func rejectionHasTheHeadersOfItsEndpoint() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/m, key: address }", "[it]",
            "cors: { origins: [\"https://shop.example.com\"] }\nresponse_headers: { X-A: b }",
            top: "security_headers: api")
        _ = try harness.fetch()
        let response = try harness.fetch(get("/x", "Origin: https://shop.example.com"))
        #expect(response.status == 429)
        #expect(response["X-A"] == "b" && response["X-Content-Type-Options"] == "nosniff")
        #expect(response["Access-Control-Allow-Origin"] == "https://shop.example.com")
        #expect(response["Access-Control-Expose-Headers"]?.contains("RateLimit") == true)
        // A preflight is not charged and not refused.
        let preflight = try harness.fetch(
            request(
                "OPTIONS", "/x",
                ["Origin: https://shop.example.com", "Access-Control-Request-Method: GET"]))
        #expect(preflight.status == 204)
        harness.expectQuiet()
    }

    /// The body of a refused request is not read, and needs no room.
    @Test func refusesBeforeTheBody() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/m, key: address }", "[it]", "route: POST /x",
            call: "one: { from: a, post: /1 }")
        #expect(try harness.fetch(post("{}")).status == 200)
        let client = try harness.send(
            request("POST", "/x", ["Content-Length: 100000", "Expect: 100-continue"]))
        #expect(harness.response(of: client).status == 429)
        harness.expectQuiet()
    }

    @Test func countsAndLogsTheReason() throws {
        let harness = try GatewayHarness.limited("it: { rate: 1/m, key: address }", "[it]")
        #expect(try statuses(harness, 3) == [200, 429, 429])
        #expect(harness.instance?.snapshot.meter.refusals[.quota] == 2)
        let usage = try #require(harness.instance?.snapshot.limitUsages.first)
        #expect(usage.name == "it" && usage.granted == 1 && usage.refused == 2)
        #expect(harness.responseCounts == ["GET /x: 200 once, 429 2 times"])
        let reasons = harness.logged.filter { $0.contains(#""status":429"#) }
        #expect(reasons.count == 2)
        #expect(reasons.allSatisfy { $0.contains(#""outcome":"rejected","reason":"quota""#) })
        harness.expectQuiet()
    }

    // MARK: Reload

    @Test func countsSurviveAReload() throws {
        func text(_ rate: String, _ name: String = "it") -> String {
            GatewayHarness.text(
                GatewayHarness.oneCall, "rate_limits: [\(name)]", "",
                "rate_limits: { \(name): { rate: \(rate), key: address } }")
        }
        let harness = try GatewayHarness(config: text("2/m"))
        #expect(try statuses(harness, 2) == [200, 200])
        try harness.install(text("2/m"))
        #expect(try statuses(harness, 1) == [429])
        let usage = try #require(harness.instance?.snapshot.limitUsages.first)
        #expect(usage.granted == 2 && usage.refused == 1)
        // The debt is a time: 60 s of the old rate are 60 s of the new one, its whole burst.
        try harness.install(text("120/m"))
        #expect(try statuses(harness, 1) == [429])
        harness.pass(500)
        #expect(try statuses(harness, 1) == [200])
        try harness.install(text("2/m", "another"))
        #expect(try statuses(harness, 3) == [200, 200, 429])
        harness.expectQuiet()
    }
}

extension ReceivedResponse {
    /// The number of lines of a header.
    fileprivate func count(_ name: String) -> Int {
        lines.count { $0.lowercased().hasPrefix(name.lowercased() + ":") }
    }
}
