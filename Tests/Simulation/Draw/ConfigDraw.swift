import Rehearsal

/// Draws configurations that `tributary check` accepts; every key has a weight.
struct ConfigDraw {
    let random: RandomSource
    let generation: Int
    /// It has endpoints with `proxy`.
    var hasStreams = false
    /// Its listener, and most of its backends, have HTTP/2.
    var hasHTTP2 = false

    /// - Parameter former: the configuration that a reload replaces; process and routes stay the same
    func config(after former: DrawnConfig? = nil) -> DrawnConfig {
        let listeners =
            hasStreams
            ? former?.listeners ?? ListenerDraw(random: random.derived("listeners")).listeners()
            : []
        let authDraw = AuthDraw(random: random.derived("auth"))
        let backends = BackendDraw(random: random, generation: generation)
        let proxies = BackendDraw(random: random.derived("proxy"), generation: generation)
        var keys = random.keys(
            [
                .key("workers", 1, [1, 1, 2, 3]),
                .key("auth_failures", 0.85, of: ["off", "1/s", "1/s", "2/s", "3/s", "1/m", "2/m"]),
                .block("drain", 1, [.key("timeout", 1, [40, 200, 5000])]),
                .block(
                    "limits", 1, DrawnLimits.weights(hasStreams: hasStreams, hasHTTP2: hasHTTP2)),
            ] + EntryDraw(random: random.derived("entry")).entry(), of: "")
        if let former {
            // The checkers know what every failed credential counted for.
            for key in ["workers", "auth_failures"] { keys.set(key, former.keys[key]) }
        }
        var config = DrawnConfig(
            generation: generation, keys: keys,
            listensOnUnixSocket: former?.listensOnUnixSocket
                ?? random.derived("listen").chance(0.15),
            acceptsHTTP2: hasHTTP2, listeners: listeners,
            rateLimits: former?.rateLimits
                ?? RateLimitDraw(random: random.derived("quota")).limits(),
            auth: authDraw.auth(
                after: former?.auth, hasCertificates: listeners.contains(where: \.verifiesClients)),
            backends: (0..<(former?.backends.count ?? random.number(1...3))).map {
                backends.backend($0, hasHTTP2: hasHTTP2, after: former?.backends[$0])
            }, endpoints: [])
        if hasStreams {
            let count = former?.streamBackends.count ?? random.pick([1, 1, 2])
            config.streamBackends = (0..<count).map {
                proxies.streamBackend($0, after: former?.streamBackends[$0])
            }
        }
        config.endpoints = endpoints(of: config, after: former)
        return config
    }

    private func endpoints(of config: DrawnConfig, after former: DrawnConfig?) -> [DrawnEndpoint] {
        let aggregates = former?.endpoints.filter { $0.proxy == nil && $0.isMain }
        var endpoints = (0..<(aggregates?.count ?? random.number(1...3))).map { index in
            // Conditions of endpoints use the parameters.
            let hasConditions = former?.endpoints.contains {
                $0.route.main == index && $0.route.when != nil
            }
            return endpoint(
                index, aggregates?[index],
                params: hasConditions == true ? aggregates?[index].params : nil,
                backends: config.backends.count)
        }
        if hasStreams {
            endpoints += proxies.endpoints(
                behind: endpoints.count, backends: config.streamBackends.count,
                after: former?.endpoints.filter { $0.proxy != nil && $0.isMain })
        }
        addRoutes(to: &endpoints, of: config, after: former)
        let (auth, quota) = (
            AuthDraw(random: random.derived("auth")),
            RateLimitDraw(random: random.derived("quota"))
        )
        for index in endpoints.indices {
            endpoints[index].auth = auth.endpoint(endpoints[index], config.auth)
            endpoints[index].limitUses = quota.uses(
                of: config.rateLimits, by: endpoints[index], former?.endpoints[index].limitUses)
        }
        return endpoints
    }

    private var proxies: ProxyDraw {
        ProxyDraw(random: random.derived("proxy"), generation: generation)
    }

    /// Adds the other endpoints of each path. A reload keeps the routes.
    private func addRoutes(
        to endpoints: inout [DrawnEndpoint], of config: DrawnConfig, after former: DrawnConfig?
    ) {
        let draw = RouteDraw(
            random: random.derived("routes"), listeners: config.servingListeners)
        for index in endpoints.indices {
            endpoints[index].route = former?.endpoints[index].route ?? draw.main(index)
        }
        let routes =
            former.map { $0.endpoints.dropFirst(endpoints.count).map(\.route) }
            ?? endpoints.flatMap { draw.others(beside: $0) }
        for route in routes { endpoints.append(endpoint(route, endpoints, config)) }
        // The paths of one route are read alike, whatever protects the other one.
        let mixed = Set(routes.filter { $0.ending != .usual }.map(\.main))
        for index in endpoints.indices where mixed.contains(endpoints[index].route.main) {
            guard endpoints[index].hasID else { continue }
            endpoints[index].keys.set("paths", .scalar("lenient"))
        }
    }

    /// Another endpoint of a path: with the method, the hosts and the parameters of the main endpoint.
    private func endpoint(
        _ route: DrawnRoute, _ endpoints: [DrawnEndpoint], _ config: DrawnConfig
    ) -> DrawnEndpoint {
        let main = endpoints[route.main]
        var other: DrawnEndpoint
        if main.proxy == nil {
            let params = main.params.filter { $0.name != "id" || route.ending != .literal }
            other = endpoint(
                endpoints.count, main, params: params, backends: config.backends.count)
        } else {
            other = proxies.endpoint(
                endpoints.count, backends: config.streamBackends.count, main)
        }
        other.route = route
        return other
    }

    /// - Parameters:
    ///   - former: an endpoint whose route it has
    ///   - params: nil for new ones
    private func endpoint(
        _ index: Int, _ former: DrawnEndpoint?, params: [DrawnParam]? = nil, backends: Int
    ) -> DrawnEndpoint {
        let random = random.derived("endpoint", index)
        let method = former?.method ?? random.pick(["GET", "GET", "GET", "POST", "PUT", "DELETE"])
        let sendsBody = method == "POST" || method == "PUT"
        let params =
            params ?? self.params(random, hasID: former?.hasID ?? random.chance(0.6))
        var keys = random.keys(
            [
                .block("body", sendsBody ? 0.6 : 0, Self.body),
                .block(
                    "forward", 1,
                    [
                        .key("headers", 0.3, of: ["[X-User]"]),
                        .key("query", 0.45, of: ["[debug]", "all"]),
                    ]),
                .key("deadline", 1, 60...800), .key("timeout", 1, 20...400),
                .key("min_duration", 0.2, 20...300), .key("round_up_to", 0.5, 20...100),
                .key("report", 0.4), .key("expose", 0.2, of: ["details"]),
                .key("partial_status", 0.2, [207]), .key("cache_control", 0.2, of: ["max-age=60"]),
                .key("server_timing", 0.2), .key("max_in_flight", 0.15, 1...4),
                .key("max_body", 1, hasHTTP2 ? [1024, 65536, 300_000] : [1024, 2048, 65536]),
            ] + EntryDraw(random: self.random.derived("entry")).endpoint(index)
                + InputDraw.endpoint(index, hasBody: sendsBody), of: "Endpoint")
        if let former { keys.set("hosts", former.keys["hosts"]) }
        keys.set(keys["min_duration"] == nil ? "round_up_to" : "server_timing", nil)
        let calls = CallDraw(
            random: random, method: method, params: params, hasBody: keys["body"] != nil,
            backends: backends
        ).calls()
        let required = calls.contains(where: \.isRequired) ? ["required"] : []
        let outcomes = random.keys(
            [
                .key("succeed_when", 0.4, of: ["any", "all"] + required),
                .block("respond", 0.3, Self.respond(with: calls, random.derived("respond"))),
            ], of: "Endpoint")
        let endpoint = DrawnEndpoint(
            index: index, route: DrawnRoute(main: index), method: method, params: params,
            keys: .object(keys.members + outcomes.members), calls: calls)
        let excluded = [endpoint.respond?["root"], endpoint.respond?["status"]].compactMap(\.self)
        guard random.derived("parts").chance(0.3), excluded.isEmpty, endpoint.minDuration == nil,
            !endpoint.serverTiming
        else { return endpoint }
        var sending = endpoint
        sending.keys.set("parts", Tree(written: #"{"as": [ndjson]}"#))
        return sending
    }

    /// Values of two calls; of a call whose responses have no body, constants.
    private static func respond(with calls: [DrawnCall], _ random: RandomSource) -> [KeyWeight] {
        let names = calls.filter { $0.method != "HEAD" && !$0.hasList }.map(\.name)
        func value(_ path: String) -> String {
            names.isEmpty ? "7" : "{\(random.pick(names))\(path)}"
        }
        let put =
            #"{"text": "a \#(value(".mark")) b", "#
            + #""value": "\#(value(random.pick([".items", ".nest", "", ".nest.a"])))", "#
            + #""inner": {"a": "\#(value(".serial"))", "b": ["\#(value(".mark"))", 1.50]}"#
        let rules: [KeyWeight] = [
            .key("put", 0.8, of: [put + "}", put + #", "c0": 1}"#]),
            .key("default", 0.6, of: [#"{"c0.extra": 5, "c1": {}, "c0.items[].id": "none"}"#]),
            .key("drop", 0.4, of: ["[c1, \"c0.items[].price\"]", "[c0.nest.a]"]),
        ]
        let root: [KeyWeight] = [
            .key("root", 1, of: [#""\#(value(".items"))""#, #"["\#(value(""))", 1]"#])
        ]
        return [
            .key("status", 0.5, of: ["201", "202"]),
            .key("headers", 0.6, of: [#"{"X-Sum": "\#(value(".serial"))-\#(value(".mark"))"}"#]),
        ] + (random.chance(0.2) ? root : rules)
    }

    private static let body: [KeyWeight] = [
        .key("type", 1, of: ["object"]), .key("required", 1, of: ["[user]"]),
        .key("properties", 1, of: [#"{"user": {"type": string}}"#]),
        .key("max", 0.4, [20, 100, 100]), .key("unknown_fields", 0.15, of: ["refuse"]),
    ]

    private func params(_ random: RandomSource, hasID: Bool) -> [DrawnParam] {
        let declared: [(name: String, weight: Double, keys: [KeyWeight])] = [
            (
                "id", hasID ? 0.5 : 0,
                [
                    .key("type", 1, of: ["integer"]), .key("min", 1, of: ["1"]),
                    .key("max", 1, of: ["999"]),
                ]
            ),
            (
                "lang", 0.5,
                [
                    .key("type", 1, of: ["string"]), .key("one_of", 1, of: ["[en, de]"]),
                    .key("default", 0.5, of: ["en"]),
                ]
            ),
            (
                "q", 0.3,
                [
                    .key("type", 1, of: ["string"]), .key("required", 0.5),
                    .key("max_length", 1, [8]),
                ]
            ),
            (
                "X-Tenant", 0.2,
                [
                    .key("type", 1, of: ["string"]), .key("required", 0.3),
                    .key("in", 1, of: ["header"]),
                ]
            ),
        ]
        var params: [DrawnParam] = []
        for (name, weight, keys) in declared {
            if random.chance(weight) {
                params.append(DrawnParam(name: name, keys: random.keys(keys, of: "Param")))
            } else if name == "id", hasID {
                params.append(DrawnParam(name: name, keys: .block))
            }
        }
        return params
    }
}
