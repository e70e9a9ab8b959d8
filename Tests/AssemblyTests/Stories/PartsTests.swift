import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// `parts`: the members of a response are sent as they are complete.
@Suite(.watched) struct PartsTests {
    private static let ndjson = "Accept: application/x-ndjson"

    /// The lines of the response in the order of their arrival, each with its time: `30 {"part":...}`.
    /// The head is its first line.
    private func lines(
        _ harness: GatewayHarness, _ request: String, until end: Int = 2000
    ) throws -> [String] {
        let peer = ScriptedPeer(try harness.stream())
        peer.send(request)
        var lines: [String] = []
        var count = 0
        for time in stride(from: 0, through: end, by: 10) {
            harness.pass(time == 0 ? 0.001 : time == 10 ? 9.999 : 10)
            let text = String(decoding: peer.received[count...], as: UTF8.self)
            count = peer.received.count
            for line in text.split(separator: "\r\n").map(String.init)
            where line.hasPrefix("HTTP") || line.hasPrefix("{") || line.hasPrefix("data:") {
                lines.append("\(time) \(line.replacing("\n", with: "|"))")
            }
            if text.hasSuffix("0\r\n\r\n") { lines.append("\(time) end") }
        }
        peer.stream.close()
        return lines
    }

    private func harness(
        _ calls: String, _ endpoint: String = "parts: { as: [ndjson, sse] }", top: String = ""
    ) throws -> GatewayHarness {
        try GatewayHarness(calls, endpoint: endpoint, top: top)
    }

    private static let three = """
        user: { from: a, get: /user, required: true }
        slow: { from: b, get: /slow }
        fast: { from: c, get: /fast }
        """

    @Test func partsLeaveInTheOrderOfCompletion() throws {
        let harness = try harness(Self.three)
        harness.on("/user", .ok(#"{"id":1}"#, after: 30))
        harness.on("/slow", .ok("[1,\n 2]", after: 70))
        harness.on("/fast", .ok(#""x""#, after: 10))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "30 HTTP/1.1 200 OK",
                #"30 {"part":"fast","value":"x"}|{"part":"user","value":{"id":1}}|"#,
                #"70 {"part":"slow","value":[1,  2]}|"#, #"70 {"end":true,"complete":true}|"#,
                "70 end",
            ])
        harness.expectQuiet()
    }

    @Test func serverSentEventsHaveOneLineEach() throws {
        let harness = try harness(Self.three)
        harness.on("/user", .ok("{\r\n\"id\":1}", after: 30))
        harness.on("/slow", .status(500, after: 70))
        harness.on("/fast", .ok(#""x""#, after: 40))
        let lines = try lines(harness, get("/x", "Accept: text/event-stream"))
        #expect(
            lines == [
                "30 HTTP/1.1 200 OK", #"30 data: {"part":"user","value":{  "id":1}}||"#,
                #"40 data: {"part":"fast","value":"x"}||"#,
                #"70 data: {"part":"slow","failure":{"kind":"unexpected_status","status":500}}||"#,
                #"70 data: {"end":true,"complete":false}||"#, "70 end",
            ])
        harness.expectQuiet()
    }

    /// Every order in which four calls can settle, of which the first is required.
    @Test func everyOrderOfCompletion() throws {
        let harness = try harness(
            (0..<4).map { "c\($0): { from: a, get: /\($0), required: \($0 == 0) }" }
                .joined(separator: "\n"))
        func permutations(_ items: [Int]) -> [[Int]] {
            items.isEmpty
                ? [[]]
                : items.flatMap { item in
                    permutations(items.filter { $0 != item }).map { [item] + $0 }
                }
        }
        for order in permutations([0, 1, 2, 3]) {
            for (place, call) in order.enumerated() {
                harness.on("/\(call)", .ok("\(call)", after: 10 + 10 * place))
            }
            let head = 10 + 10 * (order.firstIndex(of: 0) ?? 0)
            let records = order.enumerated().map { place, call in
                (max(head, 10 + 10 * place), #"{"part":"c\#(call)","value":\#(call)}|"#)
            }
            let first = records.filter { $0.0 == head }.map(\.1).joined()
            let expected =
                ["\(head) HTTP/1.1 200 OK", "\(head) \(first)"]
                + records.filter { $0.0 > head }.map { "\($0.0) \($0.1)" }
                + [#"40 {"end":true,"complete":true}|"#, "40 end"]
            let lines = try lines(harness, get("/x", Self.ndjson), until: 60)
            #expect(lines == expected, "\(order)")
        }
        harness.expectQuiet()
    }

    /// Until the head is sent, a failure has its status.
    @Test func failureBeforeTheHeadKeepsItsStatus() throws {
        for (reply, status) in [
            (Reply.status(500, after: 30), 502), (.status(404, after: 30), 404), (.hangs, 504),
        ] {
            let harness = try harness(Self.three, "parts: { as: [ndjson] }\ndeadline: 100ms")
            harness.on("/user", reply)
            harness.on("/fast", .ok("1", after: 10))
            harness.on("/slow", .ok("1", after: 50))
            let response = try harness.fetch(get("/x", Self.ndjson))
            #expect(response.status == status)
            #expect(response["Content-Type"] == "application/problem+json")
            #expect(response["Vary"] == "Accept")
            harness.expectQuiet()
        }
    }

    @Test func withoutARequiredCallTheFirstSuccessSendsTheHead() throws {
        let harness = try harness("a: { from: a, get: /a }\nb: { from: b, get: /b }")
        harness.on("/a", .status(500, after: 10))
        harness.on("/b", .ok("2", after: 40))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "40 HTTP/1.1 200 OK",
                #"40 {"part":"a","failure":{"kind":"unexpected_status","status":500}}|{"part":"b","value":2}|"#,
                #"40 {"end":true,"complete":false}|"#, "40 end",
            ])
        harness.on("/b", .status(500, after: 40))
        #expect(try harness.fetch(get("/x", Self.ndjson)).status == 502)
        harness.expectQuiet()
    }

    @Test func deadlineIsAFailureOfThePart() throws {
        let harness = try harness(Self.three, "parts: { as: [ndjson] }\ndeadline: 100ms")
        harness.on("/user", .ok("1", after: 20))
        harness.on("/fast", .ok("2", after: 20))
        harness.on("/slow", .hangs)
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines.suffix(3) == [
                #"100 {"part":"slow","failure":{"kind":"http_response_timeout","limit_ms":100}}|"#,
                #"100 {"end":true,"complete":false}|"#, "100 end",
            ])
        harness.expectQuiet()
    }

    /// A member is sent once, when all that contributes to it has settled.
    @Test func membersOfSeveralCallsAreSentOnce() throws {
        let harness = try harness(
            """
            user: { from: a, get: /user, required: true }
            geo: { from: b, get: /geo, at: user.address }
            en: { from: a, get: /en, at: "news[]" }
            de: { from: b, get: /de, at: "news[]", if_failed: [] }
            token: { from: c, get: /token, at: none }
            gone: { from: c, get: /gone }
            """,
            """
            parts: { as: [ndjson] }
            respond:
              headers: { X-User: "{user.id}", X-Late: "{en[0]}" }
              put: { name: "{user.id}-{token.t}", currency: EUR, none: "{nothing.x}", gone: 1 }
              drop: [gone]
              default: { user.avatar: none, note: 5 }
            """.replacing(#", none: "{nothing.x}", gone: 1"#, with: ""))
        harness.on("/user", .ok(#"{"id":7}"#, after: 20))
        harness.on("/geo", .ok(#""B""#, after: 40))
        harness.on("/en", .ok("[1]", after: 10))
        harness.on("/de", .status(500, after: 50))
        harness.on("/token", .ok(#"{"t":"z"}"#, after: 60))
        harness.on("/gone", .ok("1", after: 70))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "20 HTTP/1.1 200 OK",
                #"20 {"part":"currency","value":"EUR"}|{"part":"note","value":5}|"#,
                #"40 {"part":"user","value":{"id":7,"address":"B","avatar":"none"}}|"#,
                #"50 {"part":"news","value":[1]}|"#, #"60 {"part":"name","value":"7-z"}|"#,
                #"70 {"end":true,"complete":false}|"#, "70 end",
            ])
        let response = try harness.fetch(get("/x", Self.ndjson))
        #expect(response["X-User"] == "7")
        #expect(response["X-Late"] == "1")
        harness.expectQuiet()
    }

    @Test func listsBelongToTheMemberOfTheirElements() throws {
        let harness = try harness(
            """
            orders: { from: a, get: /orders, required: true }
            product:
              each: { in: "{orders[]}", as: order }
              from: b
              get: "/p/{order.id}"
              at: "orders[].product"
              if_failed: omit
            other: { from: c, get: /other }
            """)
        harness.on("/orders", .ok(#"[{"id":1},{"id":2}]"#, after: 10))
        harness.on("/p/1", .ok("11", after: 30))
        harness.on("/p/2", .status(500, after: 20))
        harness.on("/other", .ok("0", after: 20))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "10 HTTP/1.1 200 OK", #"20 {"part":"other","value":0}|"#,
                #"40 {"part":"orders","value":[{"id":1,"product":11},{"id":2}]}|"#,
                #"40 {"end":true,"complete":false}|"#, "40 end",
            ])
        harness.expectQuiet()
    }

    @Test func membersOfTheRootAreRecords() throws {
        let harness = try harness(
            """
            page: { from: a, get: /page, required: true, at: . }
            side: { from: b, get: /side, at: title }
            more: { from: c, get: /more, at: ., if_failed: null }
            """)
        harness.on("/page", .ok(#"{"a":1,"title":"t","b\u0041":2}"#, after: 10))
        harness.on("/side", .ok("0", after: 30))
        harness.on("/more", .ok(#"{"a":5,"c":6}"#, after: 20))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "10 HTTP/1.1 200 OK",
                #"20 {"part":"a","value":1}|{"part":"bA","value":2}|{"part":"c","value":6}|"#,
                #"30 {"part":"title","value":"t"}|"#, #"30 {"end":true,"complete":true}|"#,
                "30 end",
            ])
        harness.expectQuiet()
    }

    @Test func disabledCallsHaveNoRecord() throws {
        let harness = try harness(
            """
            a: { from: a, get: /a, required: true, when: { value: "{request.query.a}", is: "1" } }
            b: { from: b, get: /b, when: { value: "{request.query.b}", is: "1" } }
            c: { from: c, get: /c, when: { value: "{b.x}", is: 1 } }
            """)
        let none = try lines(harness, get("/x", Self.ndjson))
        #expect(none == ["0 HTTP/1.1 200 OK", #"0 {"end":true,"complete":true}|"#, "0 end"])
        harness.on("/b", .ok(#"{"x":2}"#, after: 10))
        let one = try lines(harness, get("/x?b=1", Self.ndjson))
        #expect(
            one == [
                "10 HTTP/1.1 200 OK", #"10 {"part":"b","value":{"x":2}}|"#,
                #"10 {"end":true,"complete":true}|"#, "10 end",
            ])
        harness.expectQuiet()
    }

    /// A required part that cannot be used is a failure of the request before the head.
    @Test func collisionOfARequiredCallIsAProblem() throws {
        let harness = try harness(
            """
            a: { from: a, get: /a, at: x }
            b: { from: b, get: /b, at: x, required: true, on_collision: fail }
            c: { from: c, get: "/c/{b.id}", after: [slow] }
            slow: { from: c, get: /slow }
            list: { each: { in: "{slow[]}", as: e, max: 9, parallel: 2 }, from: c, get: "/l/{e}" }
            """)
        harness.on("/a", .ok("1", after: 10))
        harness.on("/b", .ok(#"{"id":7}"#, after: 20))
        harness.on("/slow", .ok("[1,2,3,4,5]", after: 40))
        harness.on("/c/7", .ok("2"))
        for element in 1...5 { harness.on("/l/\(element)", .ok("\(element)", after: 10)) }
        #expect(try harness.fetch(get("/x", Self.ndjson)).outcome == "502 at 20")
        // The head waits for the call that decides whether the part can be placed.
        harness.on("/a", .ok("1", after: 30))
        #expect(try harness.fetch(get("/x", Self.ndjson)).outcome == "502 at 30")
        harness.on("/a", .status(500, after: 30))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "30 HTTP/1.1 200 OK", #"30 {"part":"x","value":{"id":7}}|"#,
                #"40 {"part":"slow","value":[1,2,3,4,5]}|"#, #"40 {"part":"c","value":2}|"#,
                #"70 {"part":"list","value":[1,2,3,4,5]}|"#, #"70 {"end":true,"complete":false}|"#,
                "70 end",
            ])
        harness.expectQuiet()
    }

    /// The same for a part inside another part, and for the value of a list inside the value of another one.
    @Test func requiredPartsWaitForTheirPlace() throws {
        let harness = try harness(
            """
            a: { from: a, get: /a }
            b: { from: b, get: /b, at: a.x.y, required: true }
            """)
        harness.on("/a", .ok(#"{"x":1}"#, after: 30), .ok(#"{"x":{}}"#, after: 30))
        harness.on("/b", .ok("2", after: 10), .ok("2", after: 10))
        #expect(try harness.fetch(get("/x", Self.ndjson)).outcome == "502 at 30")
        let placed = try lines(harness, get("/x", Self.ndjson))
        #expect(
            placed.dropFirst() == [
                #"30 {"part":"a","value":{"x":{"y":2}}}|"#, #"30 {"end":true,"complete":true}|"#,
                "30 end",
            ])
        let lists = try self.harness(
            """
            page: { from: a, get: /page, required: true }
            p: { each: { in: "{page[]}", as: e }, from: a, get: "/p/{e.k}", at: "page[].p" }
            q: { each: { in: "{page[]}", as: e }, from: a, get: "/q?{e.k}", at: "page[].p.q", required: true }
            """)
        lists.on("/page", .ok(#"[{"k":1}]"#), .ok(#"[{"k":1}]"#))
        lists.on("/p/1", .ok("5", after: 30), .ok("{}", after: 30))
        lists.on("/q?1", .ok("6", after: 10), .ok("6", after: 10))
        #expect(try lists.fetch(get("/x", Self.ndjson)).outcome == "502 at 30")
        #expect(
            try self.lines(lists, get("/x", Self.ndjson)).contains(
                #"30 {"part":"page","value":[{"k":1,"p":{"q":6}}]}|"#))
        lists.expectQuiet()
        harness.expectQuiet()
    }

    /// The place of a required part is checked when the calls that decide it have settled: also for a member that is
    /// complete later, or dropped. Calls that do not decide it do not delay the head.
    @Test func placesAreCheckedBeforeTheHead() throws {
        let lists = """
            page: { from: a, get: /page, required: true }
            p: { each: { in: "{page.l[]}", as: e }, from: a, get: "/p/{e.k}", at: "page.l[].p" }
            q: { each: { in: "{page.l[]}", as: e }, from: a, get: "/q?{e.k}", at: "page.l[].PLACE", required: true }
            extra: { from: b, get: /extra, at: page.extra }
            """
        for (place, outcome) in [("p.q", "502 at 30"), ("q", "200 at 10")] {
            let harness = try harness(lists.replacing("PLACE", with: place))
            harness.on("/page", .ok(#"{"l":[{"k":1}]}"#))
            harness.on("/p/1", .ok("5", after: 30))
            harness.on("/q?1", .ok("6", after: 10))
            harness.on("/extra", .ok("7", after: 90))
            #expect(try harness.fetch(get("/x", Self.ndjson)).outcome == outcome)
            harness.expectQuiet()
        }
        let dropped = try harness(
            """
            a: { from: a, get: /a }
            b: { from: b, get: /b, at: a.x.y, required: true }
            c: { from: c, get: /c }
            """, "parts: { as: [ndjson] }\nrespond: { drop: [a] }")
        dropped.on("/a", .ok(#"{"x":1}"#, after: 30))
        #expect(try dropped.fetch(get("/x", Self.ndjson)).outcome == "502 at 30")
        dropped.expectQuiet()
        let free = try harness(
            """
            orders: { from: a, get: /o, required: true }
            product:
              { each: { in: "{orders[]}", as: e }, from: a, get: "/p/{e.k}", at: "orders[].p", required: true }
            stock: { each: { in: "{orders[]}", as: e }, from: a, get: "/s/{e.k}", at: "orders[].s" }
            news: { from: b, get: /news }
            """)
        free.on("/o", .ok(#"[{"k":1}]"#))
        free.on("/p/1", .ok("1", after: 10))
        free.on("/s/1", .ok("2", after: 60))
        #expect(try lines(free, get("/x", Self.ndjson)).first == "10 HTTP/1.1 200 OK")
        free.expectQuiet()
    }

    /// A required call that its condition disables decides nothing: without a success there is no head.
    @Test(arguments: ["{request.query.a}", "{c.x}"])
    func disabledRequiredCallIsNoSuccess(_ reference: String) throws {
        let harness = try harness(
            """
            a: { from: a, get: /a, required: true, when: { value: "\(reference)", is: "1" } }
            b: { from: b, get: /b }
            c: { from: c, get: /c }
            """)
        harness.on("/b", .status(500, after: 10))
        harness.on("/c", .status(500, after: 20))
        #expect(try harness.fetch(get("/x", Self.ndjson)).status == 502)
        harness.on("/c", .ok("{}", after: 20))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(lines.first == "20 HTTP/1.1 200 OK")
        #expect(lines.last == "20 end")
        harness.expectQuiet()
    }

    /// A member waits for its lists, and not for calls that only read it; they read it as it was.
    @Test func listsBehindAReader() throws {
        let harness = try harness(
            """
            orders: { from: a, get: /orders, required: true }
            product:
              each: { in: "{orders[]}", as: order }
              from: b
              get: "/p/{order.id}"
              at: "orders[].product"
            user: { from: c, get: "/u/{orders[0].id}" }
            friends:
              each: { in: "{user.friends[]}", as: friend }
              from: b
              get: "/f/{friend.id}"
              at: "user.friends[].detail"
            echo: { from: c, post: /echo, body: "{orders}", after: [slow] }
            slow: { from: c, get: /slow }
            """, "parts: { as: [ndjson] }\nrespond: { put: { copy: \"{orders[0]}\" } }")
        harness.on("/orders", .ok(#"[{"id":1}]"#, after: 10))
        harness.on("/p/1", .ok("11", after: 10))
        harness.on("/u/1", .ok(#"{"friends":[{"id":5}]}"#, after: 20))
        harness.on("/f/5", .ok("55", after: 20))
        harness.on("/slow", .ok("0", after: 80))
        harness.on("/echo", .ok("9"))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "10 HTTP/1.1 200 OK",
                #"20 {"part":"orders","value":[{"id":1,"product":11}]}|{"part":"copy","value":{"id":1,"product":11}}|"#,
                #"50 {"part":"user","value":{"friends":[{"id":5,"detail":55}]}}|"#,
                #"80 {"part":"slow","value":0}|"#, #"80 {"part":"echo","value":9}|"#,
                #"80 {"end":true,"complete":true}|"#, "80 end",
            ])
        #expect(harness.seen.first { $0.target == "/echo" }?.body == #"[{"id":1}]"#)
        harness.expectQuiet()
    }

    @Test func putAndDefaultReplaceADroppedMember() throws {
        let harness = try harness(
            "user: { from: a, get: /user }\nnote: { from: b, get: /note }",
            """
            parts: { as: [ndjson] }
            respond:
              drop: [user, note]
              put: { user: "{user.id}" }
              default: { note: 5 }
            """)
        harness.on("/user", .ok(#"{"id":7}"#, after: 10))
        harness.on("/note", .status(500, after: 20))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "10 HTTP/1.1 200 OK", #"10 {"part":"user","value":7}|{"part":"note","value":5}|"#,
                #"20 {"end":true,"complete":false}|"#, "20 end",
            ])
        harness.expectQuiet()
    }

    /// Wherever the only call of a member is placed, its failure is the record.
    @Test func failureOfTheOnlyCallOfAMember() throws {
        let harness = try harness(
            """
            ok: { from: a, get: /ok, required: true, at: . }
            news: { from: b, get: /fails, at: "news[]" }
            deep: { from: b, get: /fails, at: a.b }
            plain: { from: b, get: /fails, if_failed: [] }
            title: { from: b, get: /fails }
            """)
        harness.on("/ok", .ok(#"{"title":"t"}"#, after: 10))
        harness.on("/fails", .status(500, after: 20))
        func failed(_ name: String) -> String {
            #"{"part":"\#(name)","failure":{"kind":"unexpected_status","status":500}}|"#
        }
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines.map { $0.replacing("20 ", with: "") }.joined().contains(
                failed("news") + failed("a") + failed("plain") + #"{"part":"title","value":"t"}|"#),
            "\(lines)")
        harness.expectQuiet()
    }

    @Test func withReportOffNoRecordSaysWhatFailed() throws {
        let harness = try harness(
            "a: { from: a, get: /a, required: true }\nb: { from: b, get: /b, if_failed: 5 }",
            "parts: { as: [ndjson] }\nreport: off")
        harness.on("/b", .status(500, after: 10))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines.suffix(3) == [
                #"10 {"part":"b","value":5}|"#, #"10 {"end":true,"complete":false}|"#, "10 end",
            ])
        harness.expectQuiet()
    }

    /// As a whole, an object of the root collides with what is before it in the file, or it does not.
    @Test func rootThatFailsOnACollisionWaits() throws {
        let harness = try harness(
            """
            x: { from: a, get: /x }
            page: { from: b, get: /page, at: ., on_collision: fail }
            """)
        harness.on("/x", .ok("1", after: 30))
        harness.on("/page", .ok(#"{"x":2,"y":3}"#, after: 10))
        let lines = try lines(harness, get("/x", Self.ndjson))
        #expect(
            lines == [
                "10 HTTP/1.1 200 OK", #"30 {"part":"x","value":1}|"#,
                #"30 {"end":true,"complete":false}|"#, "30 end",
            ])
        harness.expectQuiet()
    }

    /// Calls go on behind the head, so the request counts as one in flight.
    @Test func requestCountsUntilItsEnd() throws {
        let harness = try harness(Self.three, top: "limits: { requests_in_flight: 1 }")
        harness.on("/user", .ok("1", after: 10))
        harness.on("/slow", .ok("1", after: 50))
        _ = try harness.send(get("/x", Self.ndjson))
        harness.pass(20)
        #expect(try harness.fetch(get("/x")).status == 503)
        harness.pass(50)
        #expect(try harness.fetch(get("/x")).status == 200)
        harness.expectQuiet()
    }

    @Test func varyOfABackendIsRelayed() throws {
        let harness = try harness(
            "a: { from: a, get: /a, required: true, relay_headers: [Vary] }")
        harness.on("/a", .ok("1", "Vary: Accept-Language"))
        let response = try harness.fetch(get("/x"))
        #expect(response["Vary"]?.contains("Accept-Language") == true)
        #expect(
            response["Vary"]?.contains("Accept |") == true
                || response["Vary"]?.hasSuffix("Accept") == true)
        harness.expectQuiet()
    }

    // MARK: Which clients

    @Test(arguments: [
        (nil, false), ("*/*", false), ("application/json", false), ("text/html", false),
        ("application/x-ndjson", true), ("APPLICATION/X-NDJSON; charset=utf-8", true),
        ("application/x-ndjson, */*", false), ("application/x-ndjson, */*;q=0.9", true),
        ("application/x-ndjson;q=0.5, application/json;q=0.4", true),
        ("application/x-ndjson;q=0.5, application/json;q=0.5", false),
        ("application/x-ndjson;q=0, */*", false), ("application/*", false),
        ("text/event-stream", false), ("application/x-ndjson;q=2", false), ("", false),
        ("application/*;q=0.2, application/x-ndjson;q=0.3", true),
    ])
    func acceptDecides(_ accept: String?, _ isStream: Bool) throws {
        let harness = try harness(Self.three, "parts: { as: [ndjson] }")
        let response = try harness.fetch(
            accept.map { get("/x", "Accept: \($0)") } ?? get("/x"))
        #expect(
            response["Content-Type"] == (isStream ? "application/x-ndjson" : "application/json"))
        #expect(response["Gateway-Complete"] == (isStream ? nil : "true"))
        #expect(response["Cache-Control"] == (isStream ? "no-store" : nil))
        #expect(response["X-Accel-Buffering"] == (isStream ? "no" : nil))
        #expect(response["Vary"] == "Accept")
        harness.expectQuiet()
    }

    @Test func clientsOfHTTP10GetTheDocument() throws {
        let harness = try harness(Self.three)
        let response = try harness.fetch(
            get("/x", Self.ndjson).replacing("HTTP/1.1", with: "HTTP/1.0"))
        #expect(response["Content-Type"] == "application/json")
        harness.expectQuiet()
    }

    @Test func headHasTheFieldsOnly() throws {
        let harness = try harness(Self.three)
        harness.on("/user", .ok("1", after: 30))
        harness.on("/slow", .ok("1", after: 90))
        let response = try harness.fetch(request("HEAD", "/x", [Self.ndjson]))
        #expect(response.outcome == "200 at 30")
        #expect(response["Content-Type"] == "application/x-ndjson")
        harness.pass(100)
        #expect(harness.events.contains("30 cancelled /slow"))
        harness.expectQuiet()
    }

    // MARK: Clients that leave or read slowly

    /// At every instant, nothing is left of the calls.
    @Test func clientThatLeavesCancelsTheCalls() throws {
        for time in stride(from: 0.0, through: 80, by: 5) {
            let harness = try harness(Self.three)
            harness.on("/user", .ok("1", after: 30))
            harness.on("/fast", .ok("2", after: 40))
            harness.on("/slow", .ok("3", after: 70))
            let peer = ScriptedPeer(try harness.stream())
            peer.send(get("/x", Self.ndjson))
            harness.pass(time)
            peer.stream.close()
            harness.pass(200)
            #expect(!peer.text.contains("end") || time >= 70, "\(time)")
            harness.expectQuiet()
        }
    }

    /// Without a last record, the body has no end either.
    @Test func endOfADrainLeavesTheResponseIncomplete() throws {
        let harness = try harness(Self.three, top: "drain: { timeout: 50ms }")
        harness.on("/user", .ok("1", after: 10))
        harness.on("/slow", .hangs)
        let peer = ScriptedPeer(try harness.stream())
        peer.send(get("/x", Self.ndjson))
        harness.pass(20)
        let ended = harness.drain()
        harness.pass(500)
        #expect(ended() != nil)
        #expect(peer.text.contains(#"{"part":"user","value":1}"#))
        #expect(!peer.text.contains("complete"))
        #expect(!peer.text.hasSuffix("0\r\n\r\n"))
    }

    @Test func slowReaderGetsEverything() throws {
        let harness = try harness(Self.three)
        let large = "\"" + String(repeating: "x", count: 600_000) + "\""
        harness.on("/user", .ok(large, after: 10))
        harness.on("/fast", .ok(large, after: 20))
        harness.on("/slow", .ok(large, after: 60))
        let peer = ScriptedPeerThatWaits(try harness.stream())
        peer.send(get("/x", Self.ndjson))
        harness.pass(300)
        peer.read()
        harness.pass(1000)
        #expect(harness.logged.last?.contains(#""outcome":"ok""#) == true)
        #expect(harness.logged.last?.contains(#""bytes_out":1800110"#) == true)
        peer.close()
        harness.expectQuiet()
    }

    @Test func logHasTheOutcomeAndTheCalls() throws {
        let harness = try harness(Self.three)
        harness.on("/user", .ok("1", after: 10))
        harness.on("/slow", .status(500, after: 60))
        _ = try lines(harness, get("/x", Self.ndjson))
        let line = try #require(harness.logged.last)
        #expect(line.contains(#""outcome":"partial""#), "\(line)")
        #expect(line.contains(#""ms":60"#), "\(line)")
        harness.expectQuiet()
    }
}
