import YAMLReader

/// The rules for endpoints.
extension ConfigCheck {
    mutating func checkEndpoint(_ endpoint: Config.Endpoint) {
        checkForward(endpoint.forward)
        checkSuccess(of: endpoint)
        checkSharedCaching(of: endpoint)
        checkParams(of: endpoint)
        for call in endpoint.calls {
            checkCall(call, of: endpoint)
        }
        checkReferences(of: endpoint)
        checkKeys(of: endpoint)
    }

    private mutating func checkSuccess(of endpoint: Config.Endpoint) {
        let isAnyRequired = endpoint.calls.contains { $0.required?.value == true }
        if let rule = endpoint.succeedWhen, rule.value == .required, !isAnyRequired,
            hasAllCalls(of: endpoint),
            endpoint.calls.allSatisfy({ isRead("required", of: $0.location) })
        {
            problems.error(
                at: rule.location, "'succeed_when: required' needs a call with 'required: true'")
        }
        // With `on_collision: fail`, a key that two calls have makes the response partial.
        if let status = endpoint.partialStatus, endpoint.succeedWhen?.value == .all,
            hasAllCalls(of: endpoint),
            endpoint.calls.allSatisfy({ $0.at == nil && isRead("at", of: $0.location) })
        {
            problems.warning(
                at: status.location,
                "'partial_status' has no effect: with 'succeed_when: all' no response is partial")
        }
        if endpoint.calls.isEmpty, endpoint.proxy == nil, endpoint.respond == nil, wasRead {
            problems.error(at: endpoint.location, "\(endpoint.title) has no calls")
        }
    }

    /// `public` lets a shared cache store the response to a request with credentials (RFC 9111,
    /// section 3.5), and send it to other clients.
    private mutating func checkSharedCaching(of endpoint: Config.Endpoint) {
        guard let control = endpoint.cacheControl, let directive = control.sharedCachingDirective
        else { return }
        let used =
            endpoint.calls.flatMap { call in
                endpoint.clientHeaders(
                    of: call, forwardedBy: config.forward(of: call, in: endpoint))
            } + endpoint.respondReferences.clientHeaders
            + groups.namesInConditions(beside: endpoint).headers.map { $0.lowercased() }
        guard let header = ["authorization", "cookie"].first(where: used.contains) else { return }
        problems.warning(
            at: control.location,
            "\(endpoint.title): with '\(directive)' in 'cache_control', a shared cache can send a"
                + " response that depends on '\(header)' to another client")
    }

}

extension Config.Endpoint {
    /// The headers of the client's request that a call depends on, in lowercase.
    ///
    /// - Parameter forward: `forward` of the call, or of the endpoint
    fileprivate func clientHeaders(
        of call: Config.Call, forwardedBy forward: Config.Forward?
    ) -> [String] {
        let forwarded = forward?.headers.map { $0.value.lowercased() } ?? []
        let used = references(sentBy: call) + (call.when?.references ?? [])
        return forwarded + used.clientHeaders
    }
}

extension [Located<TemplateText.Reference>] {
    /// The headers of the client's request that they refer to, in lowercase.
    fileprivate var clientHeaders: [String] {
        compactMap { reference in
            if case .requestHeader(let name) = reference.value.source {
                name.lowercased()
            } else {
                nil
            }
        }
    }
}

extension Config.Endpoint {
    /// `GET /home`
    package var title: String { route?.quoted(\.name) ?? "this endpoint" }
}

extension Config.Route {
    /// As written: `GET /home`.
    package var name: String { "\(method.rawValue) \(path)" }
}

extension Located<String> {
    /// The directive of a `Cache-Control` that lets shared caches store responses to requests with
    /// credentials (RFC 9111, section 3.5); nil without one.
    var sharedCachingDirective: String? {
        let directives = value.lowercased().split(separator: ",").map { directive in
            directive.split(separator: "=").first?.filter { $0 != " " && $0 != "\t" } ?? ""
        }
        return ["public", "s-maxage"].first(where: directives.contains)
    }
}
