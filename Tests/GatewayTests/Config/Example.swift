/// The annotated example of the manual.
enum Example {
    static let text = #"""
        # tributary.yaml - one service, three aggregated endpoints
        version: 1
        listen: 127.0.0.1:8080
        admin: 127.0.0.1:9901            # /livez /readyz /metrics /requests - keep it private

        defaults:                        # for all endpoints that do not override them
          deadline: 800ms                # whole request: last byte in -> first byte out
          timeout: 500ms                 # one call: connect, send, receive, parse
          max_body: 1MiB                 # client request, and each backend response

        backends:                        # services that calls are sent to, by name
          catalog:
            url: http://127.0.0.1:7001
          stock:
            urls: [http://127.0.0.1:7002, http://127.0.0.1:7012]   # the less busy one is used
            max_concurrent: 50           # concurrency limit; more wait...
            queue: { size: 100, wait: 50ms }                       # ...here, else queue_full
            breaker: { open_at: 50%, min_requests: 20, try_again_after: 10s }  # 4xx never counts
          reviews:
            { url: http://127.0.0.1:7003, max_concurrent: 50 }         # a hedged backend needs a limit
          users:
            url: http://127.0.0.1:7004
            headers: { X-Api-Key: "${USERS_KEY}" }                 # from the environment
          offers:
            url: http://127.0.0.1:7005

        endpoints:
          # 1. One required call, two optional calls ---------------------------------
          - route: GET /products/{id}
            params:
              id:   { type: integer, min: 1 }                      # in the path
              lang: { type: string, one_of: [en, de], default: en }  # in the query
            calls:
              product:
                from: catalog
                get: /v1/items/{id}?lang={lang}
                required: true             # if this fails, the whole request fails
                relay_status: [404, 410]   # "no such product" reaches the client as 404
              stock:
                from: stock
                get: /levels/{id}
                keep: [available, warehouse.city]                  # only these keys
              reviews:
                from: reviews
                get: /by-item/{id}
                timeout: 300ms
                hedge: { after: 120ms }    # late? send a second request, use the first response
                take: items                # the array inside {"items":[...]}
            server_timing: true            # Server-Timing: product;dur=12.1, ...

          # 2. At least one call must succeed; one call depends on another ------------
          - route: GET /home
            forward: { headers: [Authorization] }                  # nothing else is forwarded
            succeed_when: any
            calls:
              profile:
                from: users
                get: /me
                drop: [password_hash]
              offers:
                from: offers
                get: /today
                if_failed: []              # show an empty list instead of null
              recommended:
                from: offers
                get: /for/{profile.segment}                        # waits for profile

          # 3. Same duration for every outcome, so response time reveals nothing ------
          - route: POST /login
            body: { type: object, required: [user, password], max: 4KiB }
            deadline: 380ms
            min_duration: 400ms            # every response takes 400 ms, success or failure
            calls:
              session:
                from: users
                post: /sessions
                body: "{request.body}"
                required: true
                relay_status: [401]
                at: .                      # merge the fields into the root of the response

        """#
}
