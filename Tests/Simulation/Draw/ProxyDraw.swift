import Rehearsal

/// Draws endpoints with `proxy`, beside the endpoints with calls of the same configuration.
struct ProxyDraw {
    let random: RandomSource
    let generation: Int

    /// The endpoints, numbered behind those with calls.
    ///
    /// - Parameter former: the endpoints that a reload replaces; routes stay the same
    func endpoints(
        behind count: Int, backends: Int, after former: [DrawnEndpoint]? = nil
    ) -> [DrawnEndpoint] {
        (0..<(former?.count ?? random.number(1...3))).map { place in
            endpoint(count + place, backends: backends, former?[place])
        }
    }

    /// - Parameter former: an endpoint whose route it has
    func endpoint(
        _ index: Int, backends: Int, _ former: DrawnEndpoint?
    ) -> DrawnEndpoint {
        let random = random.derived("endpoint", index)
        let any = DrawnEndpoint.anyMethod
        let proxy = proxy(index, backends: backends, former?.proxy)
        var keys = random.keys(
            [.key("max_in_flight", 0.15, 1...4)]
                + EntryDraw(random: self.random.derived("entry")).endpoint(index), of: "Endpoint")
        if let former { keys.set("hosts", former.keys["hosts"]) }
        if random.chance(0.15) {
            keys.set("forward", Tree(written: #"{"headers": [X-User], "query": all}"#))
        }
        keys.set("paths", proxy.paths.map { .scalar($0.rawValue) })
        return DrawnEndpoint(
            index: index, route: DrawnRoute(main: index),
            method: former?.method ?? random.pick([any, any, "GET", "POST"]),
            keys: keys, proxy: proxy)
    }

    private func proxy(_ index: Int, backends: Int, _ former: DrawnProxy?) -> DrawnProxy {
        let random = random.derived("proxy", index)
        let hasRest = former?.hasRest ?? random.chance(0.7)
        // Longer than a client waits that expects `100 Continue` and gets no decision of the host.
        let idleTimeout = random.chance(0.2) ? 1_100...2_500 : 40...900
        var keys = random.keys(
            [
                .key("path", 0.5, of: hasRest ? [#""/v\#(index)/*""#, "/fixed"] : ["/fixed"]),
                .key("timeout", 1, 60...1500), .key("idle_timeout", 1, idleTimeout),
                .key("max_duration", 0.25, 100...2500),
                .key("max_body", 0.25, [100, 5000, 100_000]),
                .key("host", 0.4, of: ["client", "inner.test"]), .key("forwarded", 0.6),
                .key("credential", 0.2, of: ["pass"]),
                .key("interim", 0.8, of: ["all", "all", "off", "http2"]),
                .key("headers", 0.4, of: [#"{"X-Set": "by g\#(generation)e\#(index)"}"#]),
                .key("drop_headers", 0.4, of: ["[X-Dropped]"]),
                .key("upgrade", 0.4, of: ["[websocket]"]),
                DrawnRetry.weight(0.5, attempts: 2...3),
            ], of: "Proxy")
        let rewrite = random.derived("rewrite")
        // Below a fixed path, the paths of the route are not paths of the backend.
        if hasRest, keys[text: "path"] != "/fixed",
            rewrite.chance(keys["path"] == nil ? 0.15 : 0.6)
        {
            let rules = ["[location, cookies]", "[location, cookies]", "[location]", "[cookies]"]
            keys.set("rewrite", Tree(written: rewrite.pick(rules)))
        }
        let folder = random.derived("folder")
        return DrawnProxy(
            backend: random.number(0...backends - 1), hasRest: hasRest,
            hasProtectedFolder: former?.hasProtectedFolder ?? (hasRest && folder.chance(0.25)),
            paths: folder.maybe(0.15, folder.pick([.strict, .lenient])), keys: keys)
    }
}
