import Process

/// The configuration that `tributary serve` uses if none is given: one endpoint for each feature.
///
/// Its backends run in this process (`DemoBackends`); variables contain their addresses.
enum DemoConfig {
    /// The name of the file in problems and in the output of `explain`.
    static let name = "demo.yaml"

    static let text = """
        # The demo of tributary. Copy it, change it, and serve it: tributary serve my.yaml
        version: 1
        listen: ${LISTEN:-127.0.0.1:8080}
        admin: ${ADMIN:-127.0.0.1:9901}
        log: { format: text }

        defaults:
          deadline: 800ms
          timeout: 500ms

        backends:
          catalog: { url: "${DEMO_CATALOG}" }
          stock: { url: "${DEMO_STOCK}" }                          # every third response is a 500
          reviews: { url: "${DEMO_REVIEWS}", max_concurrent: 50 }  # every other response takes 1 s
          users: { url: "${DEMO_USERS}" }

        endpoints:
          # A required call: without it the request fails. The other two calls may fail.
          - route: GET /products/{id}
            params:
              id: { type: integer, min: 1 }
            calls:
              product: { from: catalog, get: "/items/{id}", required: true }
              stock: { from: stock, get: "/levels/{id}", keep: [available] }
              reviews:
                from: reviews
                get: "/by-item/{id}"
                hedge: { after: 100ms }      # late? send a second request, use the first response
                take: items
            server_timing: true

          # One call uses the response of another; the other calls do not wait.
          - route: GET /home
            succeed_when: any
            calls:
              profile: { from: users, get: /me }
              news: { from: catalog, get: /news, if_failed: [] }
              recommended: { from: catalog, get: "/for/{profile.segment}" }

          # Every response takes 400 ms, success or failure, so response time reveals nothing.
          - route: POST /login
            body: { type: object, required: [user, password], max: 4KiB }
            deadline: 380ms
            min_duration: 400ms
            calls:
              session:
                from: users
                post: /sessions
                body: "{request.body}"
                required: true
                relay_status: [401]
                at: .

        """

    /// Where a browser finds the page of the admin address.
    static func page(at admin: String) -> String {
        "  http://\(admin)/      in a browser: endpoints, requests and backends while they work\n"
    }

    /// What `serve` prints when the demo listens.
    static func announcement(_ address: String, _ admin: String?) -> String {
        instructions(for: address, page: admin.map { page(at: $0) } ?? "")
    }

    /// Example requests, printed when the demo listens.
    static func instructions(for address: String, page: String) -> String {
        """

        The tributary demo is running on http://\(address). Try:

          curl -i http://\(address)/products/42     # required and optional calls, a hedge; repeat a few times
          curl -i http://\(address)/products/7      # no such product: the 404 of the required call
          curl -i http://\(address)/products/x      # a bad parameter never reaches a backend
          curl -s http://\(address)/home            # one call uses the response of another
          curl -s -w '%{time_total}s\\n' -d '{"user":"ann","password":"good"}' http://\(address)/login
          curl -s -w '%{time_total}s\\n' -d '{"user":"ann","password":"bad"}' http://\(address)/login

        \(page)

        """
    }
}

extension ConfigSource {
    /// The demo, with the addresses of its backends.
    init(demo variables: [String: String]) {
        self.init(
            path: DemoConfig.name, text: Array(DemoConfig.text.utf8), isDemo: true,
            variables: variables)
    }
}
