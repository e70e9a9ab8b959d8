import Assembly
import Basics
import TestSupport
import Testing
import WorkerSupport

/// `each`: one request for each element of a list.
@Suite(.watched) struct ListTests {
    private static let orders =
        #"{"items":[ {"sku":"a"}, {"sku" : "b", "n":1.50}, {"sku":"a"} ],"x":1}"#

    /// A list of a backend and a call for each of its elements.
    private func harness(
        _ each: String = "", _ options: String = #"get: "/i/{order.sku}""#, orders: String = orders,
        endpoint: String = "", backend: String = ""
    ) throws -> GatewayHarness {
        let harness = try GatewayHarness(
            """
            page: { from: b, get: /o, required: true }
            product: { from: a, each: { in: "{page.items[]}", as: order, \(each) }, \(options) }
            """, endpoint: endpoint, backend: backend)
        harness.on("/o", .ok(orders))
        harness.on("/i/a", [Reply](repeating: .ok(#"{"name":"A"}"#), count: 5))
        harness.on("/i/b", [Reply](repeating: .ok(#"{"name":"B"}"#), count: 5))
        return harness
    }

    private func body(of response: ReceivedResponse) -> String {
        let body = response.body
        return body.firstRange(of: #","_gateway""#).map { String(body[..<$0.lowerBound]) + "}" }
            ?? body
    }

    private let place = #"get: "/i/{order.sku}", at: "page.items[].product""#

    @Test func theValueIsAnArrayInTheOrderOfTheList() throws {
        let harness = try harness()
        let response = try harness.fetch()
        #expect(
            response.body
                == #"{"page":\#(Self.orders),"product":[{"name":"A"},{"name":"B"},{"name":"A"}]}"#)
        #expect(harness.seen.map(\.target) == ["/o", "/i/a", "/i/b"], "equal requests are shared")
        harness.expectQuiet()
    }

    @Test func theValuesBecomeMembersOfTheElements() throws {
        let harness = try harness("", place)
        let response = try harness.fetch()
        #expect(
            response.body
                == #"{"page":{"items":[ {"sku":"a","product":{"name":"A"}}, {"sku" : "b", "n":1.50,"product":{"name":"B"}}, {"sku":"a","product":{"name":"A"}} ],"x":1}}"#
        )
        #expect(response["Gateway-Complete"] == "true")
        harness.expectQuiet()
    }

    @Test func eachElementCanHaveARequestOfItsOwn() throws {
        let harness = try harness("distinct: false")
        _ = try harness.fetch()
        #expect(harness.seen.map(\.target) == ["/o", "/i/a", "/i/b", "/i/a"])
    }

    @Test(arguments: ["[]", "null", "{}", "1"]) func aListMayBeEmptyOrMissing(_ items: String)
        throws
    {
        let orders = #"{"items":\#(items)}"#
        let harness = try harness("", place, orders: orders)
        let response = try harness.fetch()
        #expect(body(of: response) == #"{"page":\#(orders)}"#)
        #expect(harness.seen.map(\.target) == ["/o"])
        let failures =
            items == "[]" ? nil : #"[{"call":"product","kind":"skipped","because":"page"}]"#
        #expect(response.failures == failures)
        harness.expectQuiet()
    }

    // MARK: Failures

    static let fallbacks: [(String, String, String)] = [
        ("", #""product":null"#, #"[{"name":"A"},null,{"name":"A"}]"#),
        (", if_failed: omit", "", #"[{"name":"A"},{"name":"A"}]"#),
        (
            ", if_failed: { name: '?' }", #""product":{"name":"?"}"#,
            #"[{"name":"A"},{"name":"?"},{"name":"A"}]"#
        ),
    ]

    @Test(arguments: fallbacks) func aFailedElementHasTheFallback(
        _ option: String, _ member: String, _ array: String
    ) throws {
        for isPlaced in [true, false] {
            let harness = try harness(
                "", (isPlaced ? place : #"get: "/i/{order.sku}""#) + option)
            harness.on("/i/b", .status(404))
            let response = try harness.fetch()
            #expect(response["Gateway-Complete"] == "false")
            #expect(
                response.failures
                    == #"[{"call":"product","kind":"unexpected_status","status":404,"count":1,"first":[1]}]"#
            )
            let comma = member.isEmpty ? "" : ","
            #expect(
                body(of: response)
                    == (isPlaced
                        ? #"{"page":{"items":[ {"sku":"a","product":{"name":"A"}}, {"sku" : "b", "n":1.50\#(comma)\#(member)}, {"sku":"a","product":{"name":"A"}} ],"x":1}}"#
                        : #"{"page":\#(Self.orders),"product":\#(array)}"#))
            harness.expectQuiet()
        }
    }

    @Test func theReportCountsElementsThatShareARequest() throws {
        let harness = try harness("", place, endpoint: "report: header")
        harness.on("/i/a", .status(500))
        let response = try harness.fetch()
        #expect(response["Gateway-Failures"] == "product;kind=unexpected_status;status=500;count=2")
    }

    @Test func ifAllFailTheCallHasFailed() throws {
        let harness = try harness("", place)
        harness.on("/i/a", .status(500))
        harness.on("/i/b", .status(503))
        let response = try harness.fetch()
        #expect(
            response.failures
                == #"[{"call":"product","kind":"unexpected_status","status":500,"count":3,"first":[0,1,2]}]"#
        )
        #expect(response.body.contains(#"{"sku":"a","product":null}"#))
        harness.expectQuiet()
    }

    @Test func everyElementOfARequiredCallIsNeeded() throws {
        let harness = try harness("", place + ", required: true")
        harness.on("/i/b", .status(500))
        let response = try harness.fetch()
        #expect(response.status == 502)
        harness.expectQuiet()
    }

    @Test(arguments: [("2", 200), ("3", 502), ("60%", 200), ("67%", 502), ("66.7%", 502)])
    func aQuorumIsEnough(_ enough: String, _ status: Int) throws {
        let harness = try harness("enough: \(enough)", place + ", required: true")
        harness.on("/i/b", .status(500))
        #expect(try harness.fetch().status == status)
        harness.expectQuiet()
    }

    @Test func theRestIsCancelledWhenTheQuorumIsMissed() throws {
        let harness = try harness("enough: 3", place)
        harness.on("/i/a", .hangs)
        harness.on("/i/b", .status(500, after: 10))
        let response = try harness.fetch()
        #expect(response.outcome == "200 at 10")
        #expect(
            response.failures
                == #"[{"call":"product","kind":"unexpected_status","status":500,"count":1,"first":[1]}]"#
        )
        #expect(response.body.contains(#"{"sku":"a","product":null}"#))
        harness.expectQuiet()
    }

    @Test func anElementWithoutTheValueIsSkipped() throws {
        let orders = #"{"items":[{"sku":"a"},{"sku":null},{},7]}"#
        let harness = try harness("", place, orders: orders)
        let response = try harness.fetch()
        #expect(
            response.failures
                == #"[{"call":"product","kind":"skipped","because":"order.sku","count":3,"first":[1,2,3]}]"#
        )
        #expect(
            body(of: response)
                == #"{"page":{"items":[{"sku":"a","product":{"name":"A"}},{"sku":null,"product":null},{"product":null},7]}}"#
        )
        #expect(harness.seen.map(\.target) == ["/o", "/i/a"])
    }

    // MARK: Time

    @Test func noMoreThanParallelAreInFlight() throws {
        let items = (0..<10).map { #"{"sku":"\#($0)"}"# }.joined(separator: ",")
        let harness = try harness(
            "parallel: 3", place, orders: #"{"items":[\#(items)]}"#, backend: "max_concurrent: 9")
        for index in 0..<10 { harness.on("/i/\(index)", .ok("1", after: 10)) }
        let client = try harness.send(get())
        harness.pass(5)
        #expect(try harness.load() == "3 running, 0 waiting")
        harness.pass(10)
        #expect(try harness.load() == "3 running, 0 waiting")
        let response = harness.response(of: client)
        #expect(response.outcome == "200 at 40")
        #expect(harness.seen.map(\.target) == ["/o"] + (0..<10).map { "/i/\($0)" }, "in order")
        harness.expectQuiet()
    }

    @Test func theTimeoutIsOfAllElements() throws {
        let items = (0..<4).map { #"{"sku":"\#($0)"}"# }.joined(separator: ",")
        for option in ["", ", retry: { attempts: 2, on: [503] }"] {
            let harness = try harness(
                "parallel: 1", place + ", timeout: 25ms" + option, orders: #"{"items":[\#(items)]}"#
            )
            for index in 0..<4 { harness.on("/i/\(index)", .ok("1", after: 10)) }
            let response = try harness.fetch()
            #expect(response.outcome == "200 at 25")
            #expect(
                response.failures
                    == #"[{"call":"product","kind":"http_response_timeout","limit_ms":25,"count":2,"first":[2,3]}]"#
            )
            #expect(response.body.contains(#"{"sku":"1","product":1},{"sku":"2","product":null}"#))
            harness.expectQuiet()
        }
    }

    /// At each instant.
    @Test(arguments: 0..<45) func aCancelledRequestLeavesNoCall(after milliseconds: Int) throws {
        let items = (0..<10).map { #"{"sku":"\#($0)"}"# }.joined(separator: ",")
        let harness = try harness("parallel: 3", place, orders: #"{"items":[\#(items)]}"#)
        for index in 0..<10 { harness.on("/i/\(index)", .ok("1", after: 10)) }
        let client = try harness.send(get())
        harness.pass(Double(milliseconds))
        client.leave()
        harness.pass(1)
        harness.expectQuiet()
    }

    /// A thousand elements, cancelled before, while and after their requests run.
    @Test(arguments: [9, 333, 1_249, 1_255])
    func aCancelledRequestOfAThousandElementsLeavesNoCall(after milliseconds: Int) throws {
        let items = (0..<1_000).map { #"{"sku":"\#($0)"}"# }.joined(separator: ",")
        let harness = try harness(
            "parallel: 8, max: 1000", place, orders: #"{"items":[\#(items)]}"#)
        for index in 0..<1_000 { harness.on("/i/\(index)", .ok("1", after: 10)) }
        let client = try harness.send(get())
        harness.pass(Double(milliseconds))
        let isComplete = milliseconds >= 1_250
        #expect(client.responses.count == (isComplete ? 1 : 0), "125 rounds of 10 ms")
        let sent = harness.seen.count
        client.leave()
        harness.pass(1)
        harness.expectQuiet()
        harness.pass(100)
        #expect(harness.seen.count == sent, "no request starts after the client has left")
    }

    // MARK: Lists of the client

    private func ofClient(
        _ list: String, _ options: String = "", method: String = "POST"
    ) throws -> GatewayHarness {
        let harness = try GatewayHarness(
            """
            item: { from: a, each: { in: "{request.\(list)[]}", as: id, max: 3\(options) }, get: "/i/{id}" }
            """, endpoint: "route: \(method) /x")
        for name in ["1", "a", "b", "c"] { harness.on("/i/\(name)", .ok(#""\#(name)""#)) }
        return harness
    }

    @Test func aListOfTheBody() throws {
        let harness = try ofClient("body.ids")
        let response = try harness.fetch(post(#"{"ids":["a",1,"b"]}"#))
        #expect(response.body == #"{"item":["a","1","b"]}"#)
        harness.expectQuiet()
    }

    @Test func aRepeatedQueryParameter() throws {
        let harness = try ofClient("query.id", method: "GET")
        #expect(try harness.fetch(get("/x?id=a&id=b&other=c")).body == #"{"item":["a","b"]}"#)
        #expect(try harness.fetch(get("/x")).body == #"{"item":[]}"#)
    }

    @Test func tooManyElementsOfTheClientAreRefused() throws {
        let harness = try ofClient("body.ids")
        let response = try harness.fetch(post(#"{"ids":["a","a","a","a"]}"#))
        #expect(response.status == 400)
        #expect(
            response.body.contains(
                #""errors":[{"in":"body","name":"ids","reason":"must have at most 3 elements"}]"#))
        #expect(harness.seen.isEmpty)
        let query = try ofClient("query.id", method: "GET")
        #expect(
            try query.fetch(get("/x?id=a&id=b&id=c&id=d")).body.contains(
                #""errors":[{"in":"query","name":"id","reason":"must have at most 3 elements"}]"#))
    }

    @Test func aListCanBeTruncated() throws {
        let harness = try ofClient("body.ids", ", over: truncate")
        let response = try harness.fetch(post(#"{"ids":["a","b","c","x","y"]}"#))
        #expect(body(of: response) == #"{"item":["a","b","c"]}"#)
        #expect(response["Gateway-Complete"] == "false")
        #expect(response.failures == #"[{"call":"item","kind":"truncated","count":2}]"#)
    }

    @Test func aMissingListOfTheClientIsSkipped() throws {
        let harness = try ofClient("body.ids")
        let response = try harness.fetch(post("{}"))
        #expect(response.status == 400)
        #expect(
            response.failures == #"[{"call":"item","kind":"skipped","because":"request.body.ids"}]"#
        )
    }

    @Test func tooManyElementsOfABackendFailTheCall() throws {
        let harness = try harness("max: 2", place)
        let response = try harness.fetch()
        #expect(response.failures == #"[{"call":"product","kind":"too_many_elements"}]"#)
        #expect(body(of: response) == #"{"page":\#(Self.orders)}"#)
        #expect(harness.seen.map(\.target) == ["/o"])
        let whole = try self.harness("max: 2")
        #expect(body(of: try whole.fetch()) == #"{"page":\#(Self.orders),"product":null}"#)
    }

    // MARK: Places and references

    @Test func twoCallsFillTheSameElements() throws {
        let harness = try GatewayHarness(
            """
            orders: { from: b, get: /o, take: items, at: shop.list }
            product: { from: a, each: { in: "{orders[]}", as: o }, get: "/i/{o.sku}", at: "orders[].product" }
            stock: { from: c, each: { in: "{orders[]}", as: o }, get: "/s/{o.sku}", at: "orders[].info.stock" }
            last: { from: a, get: "/l/{product[1].name}" }
            """)
        harness.on("/o", .ok(#"{"items":[{"sku":"a","info":{"x":1}},{"sku":"b"}]}"#))
        harness.on("/i/a", .ok(#"{"name":"A"}"#))
        harness.on("/i/b", .ok(#"{"name":"B"}"#))
        harness.on("/s/a", .ok("3"))
        harness.on("/s/b", .ok("4"))
        harness.on("/l/B", .ok("true"))
        #expect(
            try harness.fetch().body
                == #"{"shop":{"list":[{"sku":"a","info":{"x":1,"stock":3},"product":{"name":"A"}},{"sku":"b","product":{"name":"B"},"info":{"stock":4}}]},"last":true}"#
        )
    }

    @Test func aMemberThatExistsStays() throws {
        let orders = #"{"items":[{"sku":"a","product":0},{"sku":"b"}]}"#
        let harness = try harness("", place, orders: orders)
        let response = try harness.fetch()
        #expect(response["Gateway-Complete"] == "true")
        #expect(response.failures == #"[{"call":"product","kind":"collision","key":"product"}]"#)
        #expect(
            response.body.contains(#"[{"sku":"a","product":0},{"sku":"b","product":{"name":"B"}}]"#)
        )
        let strict = try self.harness("", place + ", on_collision: fail", orders: orders)
        let failed = try strict.fetch()
        #expect(
            failed.failures
                == #"[{"call":"product","kind":"collision","key":"product","count":1,"first":[0]}]"#
        )
        #expect(strict.seen.map(\.target) == ["/o", "/i/b"])
    }

    /// A value of one list may lead through a value of another one, if that is an object.
    @Test(arguments: ["", ", required: true"]) func aValueThroughAnotherListsValue(
        _ option: String
    ) throws {
        for (value, status) in [(#"{"name":"A"}"#, 200), ("5", option.isEmpty ? 200 : 502)] {
            let harness = try GatewayHarness(
                """
                page: { from: a, get: /o, take: items, required: true }
                product: { from: a, each: { in: "{page[]}", as: e }, get: "/i/{e.sku}", at: "page[].p" }
                stock:
                  { from: a, each: { in: "{page[]}", as: e }, get: "/s/{e.sku}", at: "page[].p.stock"\(option) }
                """)
            harness.on("/o", .ok(#"{"items":[{"sku":1},{"sku":2}]}"#))
            harness.on("/i/1", .ok(value))
            harness.on("/i/2", .ok(#"{"name":"B"}"#))
            harness.on("/s/1", .ok("7"))
            harness.on("/s/2", .ok("8"))
            let response = try harness.fetch()
            #expect(response.status == status)
            let isPlaced = value != "5"
            let first = isPlaced ? #"{"sku":1,"p":{"name":"A","stock":7}}"# : #"{"sku":1,"p":5}"#
            if status == 200 {
                #expect(
                    body(of: response)
                        == #"{"page":[\#(first),{"sku":2,"p":{"name":"B","stock":8}}]}"#)
            }
            #expect(
                response.failures
                    == (isPlaced
                        ? nil
                        : #"[{"call":"stock","kind":"invalid_shape","count":1,"first":[0]}]"#))
            harness.expectQuiet()
        }
    }

    /// With `on_collision: fail`, elements that collide have failed like those that failed before.
    @Test func aListThatCollidesWithAnotherOneFails() throws {
        for (isRequired, enough) in [(false, 1), (true, 3), (true, 1), (true, 2)] {
            let harness = try GatewayHarness(
                """
                page: { from: a, get: /o, take: items, required: true }
                one: { from: a, each: { in: "{page[]}", as: e }, get: "/i/{e.k}", at: "page[].p" }
                two:
                  each: { in: "{page[]}", as: e, enough: \(enough) }
                  from: a
                  get: "/j/{e.k}"
                  at: "page[].p"
                  on_collision: fail
                  required: \(isRequired)
                """)
            harness.on("/o", .ok(#"{"items":[{"k":1},{"k":2},{"k":3}]}"#))
            for key in 1...3 { harness.on("/i/\(key)", key == 2 ? .status(500) : .ok("1")) }
            for key in 1...3 {
                harness.on("/j/\(key)", key == 3 && enough < 3 ? .status(500) : .ok("2"))
            }
            let response = try harness.fetch()
            #expect(response.status == (isRequired && enough > 1 ? 502 : 200))
            #expect(
                response.body.contains(
                    #"{"call":"two","kind":"collision","key":"p","count":2,"first":[0,2]}"#),
                "\(response.body)")
            if response.status == 200 {
                #expect(response.body.contains(#"{"k":2,"p":2}"#), "null hides no value")
            }
            harness.expectQuiet()
        }
    }

    /// Requests are compared however long they are.
    @Test func longEqualRequestsAreShared() throws {
        let harness = try GatewayHarness(
            #"""
            item:
              each: { in: "{request.body.ids[]}", as: id, max: 100 }
              from: a
              post: /i
              body: { note: "{request.body.note}", id: "{id}" }
            """#, endpoint: "route: POST /x")
        harness.on("/i", [Reply](repeating: .ok("1"), count: 100))
        let ids = (0..<100).map { "\($0 % 2)" }.joined(separator: ",")
        let note = String(repeating: "n", count: 100_000)
        _ = try harness.fetch(post(#"{"note":"\#(note)","ids":[\#(ids)]}"#))
        #expect(harness.seen.count == 2)
        #expect(harness.seen.map(\.body.utf8.count) == [100_018, 100_018])
        harness.expectQuiet()
    }

    /// The value of a shared response is in the response to the client for each of its elements.
    @Test(arguments: [(4, 200), (40, 503)]) func sharedResponsesCountForEachElement(
        _ count: Int, _ status: Int
    ) throws {
        let harness = try GatewayHarness(
            #"""
            item:
              each: { in: "{request.query.id[]}", as: id, max: 100 }
              from: a
              get: "/i/{id}"
              required: true
            """#, top: "limits: { buffered_bytes: 1MiB }")
        harness.on("/i/1", .ok("\"\(String(repeating: "v", count: 50_000))\""))
        let ids = Array(repeating: "id=1", count: count).joined(separator: "&")
        let response = try harness.fetch(get("/x?\(ids)"))
        #expect(response.status == status)
        if status == 503 { #expect(response.body.contains(#""kind":"queue_full""#)) }
        harness.expectQuiet()
    }

    /// A list of the client is checked before any call, also where a response decides whether its call is made.
    @Test(arguments: [
        ("ids=1&ids=2", 200), ("ids=1&ids=2&ids=3", 400), ("ids=1&ids=%zz", 400),
        ("ids=1&ids=%ff", 400),
    ]) func aListIsCheckedWhateverItsConditionIs(_ query: String, _ status: Int) throws {
        let harness = try GatewayHarness(
            """
            a: { from: a, get: /a }
            item:
              when: { value: "{a.v}", is: 1 }
              each: { in: "{request.query.ids[]}", as: id, max: 2 }
              from: b
              get: "/i/{id}"
            """)
        harness.on("/a", .ok(#"{"v":1}"#))
        #expect(try harness.fetch(get("/x?\(query)")).status == status)
        #expect(harness.seen.isEmpty == (status == 400))
        harness.expectQuiet()
    }

    // MARK: Records

    @Test func aStatusOfAnElementIsNotRelayed() throws {
        let harness = try harness("", place + ", required: true")
        harness.on("/i/b", .status(404))
        #expect(try harness.fetch().status == 502)
        let relaying = try self.harness("", place + ", required: true, relay_status: [404]")
        relaying.on("/i/b", .status(404))
        #expect(try relaying.fetch().status == 404)
    }

    @Test func noRequestStartsWhenTheQuorumIsMissed() throws {
        let orders = #"{"items":[{"sku":"a"},{}]}"#
        let skipped = try harness("", place + ", required: true", orders: orders)
        #expect(try skipped.fetch().status == 502)
        #expect(skipped.seen.map(\.target) == ["/o"])
        let items = (0..<5).map { #"{"sku":"\#($0)"}"# }.joined(separator: ",")
        let harness = try harness(
            "parallel: 2", place + ", required: true", orders: #"{"items":[\#(items)]}"#)
        harness.on("/i/0", .status(500, after: 10))
        harness.on("/i/1", .ok("1", after: 5))
        harness.on("/i/2", .hangs)
        #expect(try harness.fetch().outcome == "502 at 10")
        #expect(harness.seen.map(\.target) == ["/o", "/i/0", "/i/1", "/i/2"])
        harness.expectQuiet()
    }

    /// Requests that are cancelled because others failed say nothing about the backend.
    @Test func cancelledRequestsDoNotCountForTheBreaker() throws {
        let items = (0..<5).map { #"{"sku":"\#($0)"}"# }.joined(separator: ",")
        let breaker = "breaker: { min_requests: 3, open_at: 50% }"
        let harness = try harness(
            "", place + ", required: true", orders: #"{"items":[\#(items)]}"#, backend: breaker)
        harness.on("/i/0", .status(500, after: 10))
        for index in 1..<5 { harness.on("/i/\(index)", .hangs) }
        #expect(try harness.fetch().status == 502)
        #expect(try !harness.isBreakerOpen())
        let hanging = try self.harness(
            "", place + ", timeout: 20ms, retry: { attempts: 2, on: [503] }",
            orders: #"{"items":[\#(items)]}"#, backend: breaker)
        for index in 0..<5 { hanging.on("/i/\(index)", .hangs) }
        #expect(try hanging.fetch().outcome == "200 at 20")
        #expect(try hanging.isBreakerOpen(), "each hanging request counts")
        hanging.expectQuiet()
    }

    @Test func theMostRestrictiveCacheControlOfElementsCounts() throws {
        let harness = try harness("", place)
        harness.on("/i/b", .ok("1", "Cache-Control: no-store"))
        #expect(try harness.fetch()["Cache-Control"] == "no-store")
    }

    @Test func respondSeesTheFilledElements() throws {
        let harness = try harness("", place, endpoint: #"respond: { root: "{page.items}" }"#)
        #expect(
            try harness.fetch().body
                == #"[ {"sku":"a","product":{"name":"A"}}, {"sku" : "b", "n":1.50,"product":{"name":"B"}}, {"sku":"a","product":{"name":"A"}} ]"#
        )
    }

    @Test func elementsCanBeInEachPlaceOfARequest() throws {
        let harness = try GatewayHarness(
            #"""
            l: { from: b, get: /o }
            i: { from: a, each: { in: "{l[]}", as: e }, post: "/i?x={e.x?}&t={e.t,}", headers: { X-N: "{e.n}" }, body: { all: "{e}", n: "{e.n}" } }
            """#)
        harness.on("/o", .ok(#"[{"n":1.50,"t":["a","b"]},{"n":"\"","t":"c","x":"y"}]"#))
        harness.on("/i?x=&t=a,b", .ok("1"))
        harness.on("/i?x=y&t=c", .ok("2"))
        #expect(try harness.fetch().body.hasSuffix(#""i":[1,2]}"#))
        let sent = harness.seen.dropFirst()
        #expect(sent.map { $0["X-N"] } == ["1.50", "\""])
        #expect(
            sent.map(\.body) == [
                #"{"all":{"n":1.50,"t":["a","b"]},"n":1.50}"#,
                #"{"all":{"n":"\"","t":"c","x":"y"},"n":"\""}"#,
            ])
    }

    @Test func badValuesOfAQueryParameterAreRefused() throws {
        for (query, reason) in [("id=a&id=%zz", "hexadecimal"), ("id=%ff", "UTF-8")] {
            let harness = try ofClient("query.id", method: "GET")
            let response = try harness.fetch(get("/x?\(query)"))
            #expect(response.status == 400 && response.body.contains(reason))
            #expect(harness.seen.isEmpty)
        }
    }

    @Test func twoListsWithOneMemberCollide() throws {
        let harness = try GatewayHarness(
            """
            l: { from: b, get: /o }
            one: { from: a, each: { in: "{l[]}", as: e }, get: "/1/{e.n}", at: "l[].x" }
            two: { from: c, each: { in: "{l[]}", as: e }, get: "/2/{e.n}", at: "l[].x" }
            """)
        harness.on("/o", .ok(#"[{"n":1},{"n":2}]"#))
        harness.on("/1/1", .ok("1"))
        harness.on("/1/2", .ok("1"))
        harness.on("/2/1", .ok("2"))
        harness.on("/2/2", .status(500))
        let response = try harness.fetch()
        #expect(response.body.hasPrefix(#"{"l":[{"n":1,"x":1},{"n":2,"x":1}],"#))
        #expect(
            response.failures
                == #"[{"call":"two","kind":"unexpected_status","status":500,"count":1,"first":[1]},{"call":"two","kind":"collision","key":"x"}]"#
        )
    }

    @Test func aListThatIsNotMadePlacesNothing() throws {
        let harness = try harness(
            "", place + #", when: { value: "{request.query.q}", exists: true }"#)
        let response = try harness.fetch()
        #expect(response.body == #"{"page":\#(Self.orders)}"#)
        #expect(response["Gateway-Complete"] == "true")
        #expect(try harness.fetch(get("/x?q=1")).body.contains("product"))
    }

    @Test func listsAreCounted() throws {
        let harness = try harness("max: 2, over: truncate", place)
        _ = try harness.fetch()
        harness.on("/o", .ok(#"{"items":[]}"#))
        _ = try harness.fetch()
        #expect(try harness.outcomes(of: "a") == "ok 2", "an empty list is a success")
        let lists = try #require(try harness.lists())
        #expect(lists.elements.count == 2 && lists.elements.sum == 2)
        #expect(lists.truncated == 1 && lists.shared == 0)
        #expect(try harness.lists(of: "b") == nil)
    }

    @Test func logsCountElements() throws {
        let harness = try harness("", place)
        harness.on("/i/a", .status(404))
        _ = try harness.fetch()
        let line = try #require(harness.logged.last)
        #expect(line.contains(#""name":"product","#), "\(line)")
        #expect(line.contains(#""attempts":2,"elements":3,"failed_elements":2}"#), "\(line)")
    }

    // MARK: Batches

    private func batched(
        _ each: String = "", _ options: String = "", orders: String = orders, size: Int = 2
    ) throws -> GatewayHarness {
        try harness(
            #"batch: \#(size), match: { sku: "{order.sku}" } \#(each)"#,
            #"get: "/levels?sku={order.sku,}&n=1", take: levels, at: "page.items[].stock" \#(options)"#,
            orders: orders)
    }

    @Test func aBatchHasDistinctValues() throws {
        let harness = try batched()
        harness.on(
            "/levels?sku=a,b&n=1",
            .ok(#"{"levels":[{"sku":"b","n":2},{"sku":"x"},{"sku":"a","n":1},{"sku":"a","n":9}]}"#))
        let response = try harness.fetch()
        #expect(
            response.body
                == #"{"page":{"items":[ {"sku":"a","stock":{"sku":"a","n":1}}, {"sku" : "b", "n":1.50,"stock":{"sku":"b","n":2}}, {"sku":"a","stock":{"sku":"a","n":1}} ],"x":1}}"#
        )
        #expect(harness.seen.count == 2)
        harness.expectQuiet()
    }

    /// As in conditions: `3` and `3.0` are equal, `"3"` is another value.
    @Test func valuesAreComparedByTheirTypes() throws {
        let orders = #"{"items":[{"sku":3},{"sku":"3"},{"sku":3.0},{"sku":true},{"sku":4}]}"#
        let harness = try batched(orders: orders, size: 10)
        harness.on(
            "/levels?sku=3,true,4&n=1",
            .ok(#"{"levels":[{"sku":30e-1,"n":1},{"sku":"3","n":2},{"sku":"true","n":3}]}"#))
        let response = try harness.fetch()
        #expect(
            response.body
                == #"{"page":{"items":[{"sku":3,"stock":{"sku":30e-1,"n":1}},{"sku":"3","stock":{"sku":"3","n":2}},{"sku":3.0,"stock":{"sku":30e-1,"n":1}},{"sku":true,"stock":null},{"sku":4,"stock":null}]}}"#
        )
        #expect(
            response["Gateway-Complete"] == "true", "an element without a result has not failed")
    }

    /// A value that cannot be sent fails its own element: there are no more requests than batches.
    @Test func aValueThatCannotBeSentFailsItsOwnElement() throws {
        let items = ["a", "x\\u0000", "b", "y\\u0000", "a"].map { #"{"sku":"\#($0)"}"# }
        let harness = try harness(
            #"batch: 5, match: { sku: "{order.sku}" }"#,
            #"get: "/levels/{order.sku,}/x", take: levels, at: "page.items[].stock""#,
            orders: #"{"items":[\#(items.joined(separator: ","))]}"#)
        harness.on(
            "/levels/a,b/x", .ok(#"{"levels":[{"sku":"a","n":1},{"sku":"b","n":2}]}"#))
        let response = try harness.fetch()
        #expect(
            response.failures
                == #"[{"call":"product","kind":"skipped","because":"order.sku","count":2,"first":[1,3]}]"#
        )
        #expect(response.body.contains(#"{"sku":"b","stock":{"sku":"b","n":2}}"#))
        #expect(harness.seen.count == 2)
        harness.expectQuiet()
    }

    @Test func batchesAreRequestsOfTheirOwn() throws {
        let items = (0..<5).map { #"{"sku":\#($0)}"# }.joined(separator: ",")
        let harness = try batched("", orders: #"{"items":[\#(items),{"sku":null},{"sku":[1]}]}"#)
        harness.on("/levels?sku=0,1&n=1", .ok(#"{"levels":[{"sku":0},{"sku":1}]}"#))
        harness.on("/levels?sku=2,3&n=1", .ok(#"{"levels":{}}"#))
        harness.on("/levels?sku=4&n=1", .status(500))
        let response = try harness.fetch()
        #expect(
            response.failures
                == #"[{"call":"product","kind":"invalid_shape","count":5,"first":[2,3,4,5,6]}]"#)
        #expect(body(of: response).contains(#"{"sku":1,"stock":{"sku":1}},{"sku":2,"stock":null}"#))
        harness.expectQuiet()
    }
}
