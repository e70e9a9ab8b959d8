import YAMLReader

/// The rules for `proxy`, and for the routes that only `proxy` can have.
extension ConfigCheck {
    mutating func checkProxy(of endpoint: Config.Endpoint) {
        guard let proxy = endpoint.proxy else { return checkPatterns(of: endpoint) }
        checkBackend(of: proxy)
        checkPath(of: proxy, in: endpoint)
        checkRewrite(of: proxy, in: endpoint)
        checkHeaders(of: proxy, in: endpoint)
        checkCredential(of: proxy, in: endpoint)
        checkClientCert(of: proxy)
        checkRetry(of: proxy, in: endpoint)
        checkUpgrade(of: proxy)
        refuseKeysOfCalls(in: endpoint)
        checkLimits(of: endpoint)
    }

    /// Routes that match more than calls can handle.
    private mutating func checkPatterns(of endpoint: Config.Endpoint) {
        guard let route = endpoint.route, isRead("proxy", of: endpoint.location) else { return }
        if route.value.method == .any {
            problems.error(
                at: route.location,
                "route \(route.quoted(\.name)): ANY is for endpoints with 'proxy'; write a route for"
                    + " each method")
        }
        if route.value.hasRest {
            problems.error(
                at: route.location,
                "route \(route.quoted(\.name)): '*' is for endpoints with 'proxy'; write a parameter"
                    + " for every segment, or %2A for a literal *")
        }
    }

    private mutating func checkBackend(of proxy: Config.Proxy) {
        guard let to = proxy.to, backend(named: to.value) == nil, hasAllBackends else { return }
        let known = config.backends.map(\.name.value)
        let near = Suggestion.hint(for: to.quoted, among: known)
        let list = near.isEmpty ? " (there are \(known.joined(separator: ", ")))" : near
        problems.error(
            at: to.location,
            "'proxy': there is no backend '\(to.quoted)'" + (known.isEmpty ? "" : list))
    }

    private mutating func checkPath(of proxy: Config.Proxy, in endpoint: Config.Endpoint) {
        guard let path = proxy.path, let route = endpoint.route?.value else { return }
        if path.value.pieces.contains(.rest), !route.hasRest {
            problems.error(at: path.location, "'path' has '*' but the route has none")
        }
        for case .parameter(let name) in path.value.pieces where !route.parameters.contains(name) {
            problems.error(
                at: path.location, "'path' uses {\(name)}; the route has no parameter '\(name)'")
        }
    }

    /// A prefix takes another's place only where the rest of the paths is the same.
    private mutating func checkRewrite(of proxy: Config.Proxy, in endpoint: Config.Endpoint) {
        guard let first = proxy.rewrite.first, let route = endpoint.route?.value else { return }
        let path = proxy.path?.value.text ?? route.path
        if !route.hasRest {
            problems.error(at: first.location, "'rewrite' needs a route that ends with '*'")
        } else if path.patterns != route.path.patterns {
            problems.error(
                at: first.location,
                "'rewrite' needs a 'path' that is the same as the route from the first parameter or"
                    + " '*' on")
        }
    }

    private mutating func checkHeaders(of proxy: Config.Proxy, in endpoint: Config.Endpoint) {
        checkDuplicates(in: proxy.headers.map(\.name), of: "headers")
        checkDuplicates(in: proxy.dropHeaders, of: "drop_headers")
        for reference in proxy.headers.flatMap(\.value.locatedReferences) {
            checkReference(reference, of: "'proxy'", in: endpoint)
        }
        for header in endpoint.headers + proxy.headers {
            for reference in header.value.locatedReferences {
                guard case .requestBody = reference.value.source else { continue }
                problems.error(
                    at: reference.location,
                    "'proxy' uses {\(reference.value.text)}; the body is passed on without being"
                        + " read")
            }
        }
    }

    /// Warns of listed headers that never pass, because each authenticator reads its credential there.
    /// Other cookies than the one with a token do pass.
    private mutating func checkCredential(of proxy: Config.Proxy, in endpoint: Config.Endpoint) {
        guard (proxy.credential?.value ?? PlanDefaults.proxyCredential) == .drop,
            let rule = config.authRule(of: endpoint)
        else { return }
        let headers = rule.any.map { name in
            authenticator(named: name.value)?.credentialHeader?.lowercased()
        }
        guard let first = headers.first, let header = first, header != "cookie",
            headers.allSatisfy({ $0 == header })
        else { return }
        for name in endpoint.forward?.headers ?? [] where name.value.lowercased() == header {
            problems.warning(
                at: name.location,
                "'\(name.quoted)' does not reach the backend, because 'auth' reads the credential from"
                    + " it; write 'credential: pass' in 'proxy' to send it")
        }
    }

    private mutating func checkClientCert(of proxy: Config.Proxy) {
        guard wasRead, let setting = proxy.clientCert, setting.value == .on,
            !config.verifiesClients
        else { return }
        problems.error(
            at: setting.location,
            "'client_cert' needs a listener with 'tls' and 'client_ca'; no client has a certificate"
                + " without it")
    }

    private mutating func checkRetry(of proxy: Config.Proxy, in endpoint: Config.Endpoint) {
        checkAttempts(of: proxy.retry)
        guard let retry = proxy.retry, !retry.isWithoutEffect,
            let method = endpoint.route?.value.method, method == .post || method == .patch
        else { return }
        problems.warning(
            at: retry.location,
            "requests with \(method.rawValue) are retried only if nothing of them was sent")
    }

    /// Only HTTP/1.1 switches protocols (RFC 9113 8.6).
    private mutating func checkUpgrade(of proxy: Config.Proxy) {
        guard let upgrade = proxy.upgrade.first, let to = proxy.to,
            let backend = backend(named: to.value), backend.protocolChoice?.value == .http2
        else { return }
        problems.error(
            at: upgrade.location,
            "backend '\(to.quoted)' has 'protocol: http2'; an upgrade needs http1 or auto")
    }

    /// The keys that need a response in memory.
    private mutating func refuseKeysOfCalls(in endpoint: Config.Endpoint) {
        let keys: [(name: String, location: SourceLocation?, advice: String)] = [
            ("succeed_when", endpoint.succeedWhen?.location, "there are no calls"),
            ("report", endpoint.report?.location, "there are no calls"),
            ("partial_status", endpoint.partialStatus?.location, "there are no calls"),
            ("server_timing", endpoint.serverTiming?.location, "there are no calls"),
            ("cache_control", endpoint.cacheControl?.location, "write it in 'response_headers'"),
            ("max_body", endpoint.maxBody?.location, "use 'max_body' of 'proxy'"),
        ]
        for key in keys {
            guard let location = key.location else { continue }
            problems.error(
                at: location, "'\(key.name)' has no effect with 'proxy': \(key.advice)")
        }
    }

    /// A limit by the body would have to read it before it is passed on.
    private mutating func checkLimits(of endpoint: Config.Endpoint) {
        for use in config.rateLimits(of: endpoint) {
            guard let name = use.value.limit,
                let limit = config.rateLimits.first(where: { $0.name.value == name.value })
            else { continue }
            refuseBody(
                in: limit.references, at: name.location, "rate limit '\(name.quoted)'", of: endpoint
            )
            refuseBody(
                in: use.value.when?.references ?? [], at: nil,
                "'when' of rate limit '\(name.quoted)'", of: endpoint)
            refuseBody(
                in: [use.value.countedList].compactMap(\.self), at: nil,
                "'cost' of rate limit '\(name.quoted)'", of: endpoint)
        }
    }

    /// - Parameter location: nil for the location of each reference
    private mutating func refuseBody(
        in references: [Located<TemplateText.Reference>], at location: SourceLocation?,
        _ title: String, of endpoint: Config.Endpoint
    ) {
        for reference in references {
            guard case .requestBody = reference.value.source else { continue }
            problems.error(
                at: location ?? reference.location,
                "\(title) uses {\(reference.value.text)}; \(endpoint.title) has 'proxy', which passes"
                    + " the body on without reading it")
        }
    }
}
