import TestSupport
import Testing
import WorkerSupport

/// Five requests that users of aggregation gateways publish most often, each as a whole scenario.
@Suite(.watched) struct ExampleTests {
    private func harness(_ endpoints: String) throws -> GatewayHarness {
        try GatewayHarness(
            config: """
                version: 1
                backends:
                  a: { url: "http://127.0.0.1:7001" }
                  b: { url: "http://127.0.0.1:7002" }
                  c: { url: "http://127.0.0.1:7003" }
                endpoints:
                \(endpoints.indented(2))
                """)
    }

    /// A list, and three routes for each of its elements.
    @Test func listWithThreeRoutes() throws {
        let harness = try harness(
            """
            - route: GET /users
              calls:
                users: { from: a, get: /users, required: true }
                posts:
                  each: { in: "{users[]}", as: user }
                  from: b
                  get: "/posts?user={user.id}"
                  at: "users[].posts"
                albums:
                  each: { in: "{users[]}", as: user }
                  from: c
                  get: "/users/{user.id}/albums"
                  take: items
                  at: "users[].albums"
                city:
                  each: { in: "{users[]}", as: user }
                  from: c
                  get: "/cities/{user.address.city}"
                  at: "users[].address.details"
                  if_failed: omit
            """)
        harness.on(
            "/users",
            .ok(
                #"[{"id":1,"address":{"city":"Bonn"}},{"id":2,"address":{"city":"Bonn"}},{"id":3,"address":{}}]"#
            ))
        for id in 1...3 {
            harness.on("/posts?user=\(id)", .ok(#"[{"n":\#(id)}]"#, after: 10 - id))
            harness.on("/users/\(id)/albums", .ok(#"{"items":[\#(id)0]}"#, after: id))
        }
        harness.on("/cities/Bonn", .ok(#"{"zip":"53111"}"#))
        let response = try harness.fetch(get("/users"))
        let bonn = #""address":{"city":"Bonn","details":{"zip":"53111"}}"#
        #expect(
            response.body.hasPrefix(
                #"{"users":[{"id":1,\#(bonn),"posts":[{"n":1}],"albums":[10]},"#
                    + #"{"id":2,\#(bonn),"posts":[{"n":2}],"albums":[20]},"#
                    + #"{"id":3,"address":{},"posts":[{"n":3}],"albums":[30]}]"#),
            "\(response.body)")
        #expect(
            response.failures
                == #"[{"call":"city","kind":"skipped","because":"user.address.city","count":1,"first":[2]}]"#
        )
        #expect(response.ms == 9, "all elements and routes at once")
        #expect(harness.seen.count == 8, "both users of one city share its request")
        harness.expectQuiet()
    }

    /// A token, the profile that it gives access to, and a list that belongs to the profile.
    @Test func loginThenProfileThenList() throws {
        let harness = try harness(
            """
            - route: POST /start
              body: { type: object, required: [user, password] }
              calls:
                login:
                  from: a
                  post: /token
                  form: { grant_type: password, username: "{request.body.user}", password: "{request.body.password}" }
                  required: true
                  relay_status: [401]
                  at: none
                profile:
                  from: b
                  get: /me
                  headers: { Authorization: "Bearer {login.access_token}" }
                  required: true
                orders:
                  from: c
                  get: "/orders?user={profile.id}"
                  headers: { Authorization: "Bearer {login.access_token}" }
                  take: items
            """)
        harness.on(
            "/token", .ok(#"{"access_token":"t.1","expires_in":60}"#), .status(401))
        harness.on("/me", .ok(#"{"id":7,"name":"Ann"}"#))
        harness.on("/orders?user=7", .ok(#"{"items":[{"id":1},{"id":2}]}"#))
        let login = post(#"{"user":"ann","password":"a b&c"}"#, to: "/start")
        let response = try harness.fetch(login)
        #expect(
            response.body == #"{"profile":{"id":7,"name":"Ann"},"orders":[{"id":1},{"id":2}]}"#)
        #expect(
            harness.seen.map { $0["Authorization"] } == [nil, "Bearer t.1", "Bearer t.1"])
        #expect(
            harness.seen.first?.body == "grant_type=password&username=ann&password=a%20b%26c")
        #expect(try harness.fetch(login).status == 401)
        #expect(harness.seen.count == 4, "nothing follows a login that failed")
        harness.expectQuiet()
    }

    /// The elements of two pages become one list, in the order of the file.
    @Test func appendOfTwoPages() throws {
        let harness = try harness(
            """
            - route: GET /products
              calls:
                first: { from: a, get: "/p?page=1", take: items, at: "products[]" }
                second: { from: a, get: "/p?page=2", take: items, at: "products[]" }
            """)
        harness.on(
            "/p?page=1", .ok(#"{"items":[{"id":1},{"id":2.50}]}"#, after: 20), .status(500))
        harness.on("/p?page=2", .ok(#"{"items":[ {"id":3} ]}"#), .ok(#"{"items":[]}"#))
        let response = try harness.fetch(get("/products"))
        #expect(response.body == #"{"products":[{"id":1},{"id":2.50},{"id":3}]}"#)
        let partial = try harness.fetch(get("/products"))
        #expect(partial.body.hasPrefix(#"{"products":[],"_gateway""#))
        #expect(
            partial.failures
                == #"[{"call":"first","kind":"unexpected_status","status":500}]"#)
        harness.expectQuiet()
    }

    /// The names of a backend in snake case become names in camel case, at all levels.
    @Test func renameOfCase() throws {
        let harness = try harness(
            """
            - route: GET /user
              calls:
                user:
                  from: a
                  get: /u
                  rename: { "*": camel, "home_address.zip_code": postcode }
                  at: .
            """)
        harness.on(
            "/u",
            .ok(
                #"{"user_id":1,"home_address":{"zip_code":"53111","street_name":"A"},"phone_numbers":[{"country_code":49}],"_links":{},"snake__case":1}"#
            ))
        #expect(
            try harness.fetch(get("/user")).body
                == #"{"userId":1,"homeAddress":{"postcode":"53111","streetName":"A"},"phoneNumbers":[{"countryCode":49}],"_links":{},"snake__case":1}"#
        )
        harness.expectQuiet()
    }

    /// Responses without a backend: a file, a redirect with a parameter, an error as JSON.
    @Test func staticAnswers() throws {
        let harness = try harness(
            """
            - route: GET /robots.txt
              respond: { body: "User-agent: *\\nDisallow: /private\\n" }
            - route: GET /old/{id}
              respond: { status: 301, headers: { Location: "/new/{id}" } }
            - route: GET /v1/{path}
              respond: { status: 410, body: { error: gone, documentation: "https://example.com/v2" } }
            """)
        let robots = try harness.fetch(get("/robots.txt"))
        #expect(robots.body == "User-agent: *\nDisallow: /private\n")
        #expect(robots["Content-Type"] == "text/plain; charset=utf-8")
        let head = try harness.fetch(request("HEAD", "/robots.txt", []))
        #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == "33")
        let redirect = try harness.fetch(get("/old/a%20b"))
        #expect(redirect.status == 301 && redirect["Location"] == "/new/a%20b")
        let gone = try harness.fetch(get("/v1/x"))
        #expect(gone.status == 410)
        #expect(gone.body == #"{"error":"gone","documentation":"https://example.com/v2"}"#)
        #expect(gone["Content-Type"] == "application/json")
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }
}
