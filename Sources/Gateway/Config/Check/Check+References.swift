import YAMLReader

/// The rules for references between calls, and for `after`.
extension ConfigCheck {
    /// Every `{...}` in an endpoint's calls must refer to a value that will exist.
    mutating func checkReferences(of endpoint: Config.Endpoint) {
        for call in endpoint.calls {
            for reference in call.references {
                if call.refersToElement(reference.value) {
                    checkElement(reference, of: call, in: endpoint)
                    continue
                }
                checkReference(reference, of: "call '\(call.name.value)'", in: endpoint)
                if reference.value.isOptional { checkOptional(reference, of: call, in: endpoint) }
            }
            checkAfter(of: call, in: endpoint)
        }
        checkHeaders(of: endpoint)
        checkCycles(of: endpoint)
    }

    /// - Parameters:
    ///   - title: what has the reference, for messages
    ///   - isTested: whether a condition has it, for which a missing value has a meaning
    mutating func checkReference(
        _ reference: Located<TemplateText.Reference>, of title: String,
        in endpoint: Config.Endpoint, isTested: Bool = false
    ) {
        let uses = "\(title) uses {\(reference.value.text)}; "
        let calls = endpoint.calls.map(\.name.value)
        let params = endpoint.parameterNames
        switch reference.value.source {
        case .name(let name) where params.contains(name):
            break
        case .call("token", _) where !config.tokenAuthenticators(of: endpoint).isEmpty:
            checkClaim(reference, in: endpoint, uses)
        case .name("token") where !config.tokenAuthenticators(of: endpoint).isEmpty:
            problems.error(
                at: reference.location, uses + "write {token.claim} for a claim of the token")
        case .call("token", _) where !calls.contains("token") && hasAuth(endpoint):
            problems.error(
                at: reference.location,
                uses + "\(endpoint.title) has no 'auth' with 'jwt', so there is no token")
        case .name(let name) where !calls.contains(name) && !hasAllParams(of: endpoint):
            break
        case .call(let name, _) where !calls.contains(name) && !hasAllCalls(of: endpoint):
            break
        case .name(let name) where !calls.contains(name):
            let list =
                params.isEmpty
                ? " (this endpoint has no parameters)"
                : " (parameters here: \(params.joined(separator: ", ")))"
            problems.error(at: reference.location, uses + "there is no parameter '\(name)'" + list)
        case .call(let name, _) where !calls.contains(name):
            let message =
                params.contains(name)
                ? "'\(name)' is a parameter and has no members"
                : "there is no call '\(name)' (calls here: \(calls.joined(separator: ", ")))"
            problems.error(at: reference.location, uses + message)
        case .name(let name), .call(let name, _):
            checkResponse(of: name, in: endpoint, uses, at: reference.location)
            checkMember(reference, of: name, in: endpoint, uses, isTested: isTested)
        case .requestBody(let path):
            checkBodyMember(reference, path, in: endpoint, uses, isTested: isTested)
            guard let method = endpoint.route?.value.method, method == .get || method == .head
            else {
                break
            }
            problems.warning(
                at: reference.location, uses + "\(method.rawValue) requests seldom have a body")
        case .requestHeader(let name) where HeaderSyntax.isForwarding(name):
            problems.warning(
                at: reference.location,
                uses + "any client can send this header; {request.client} and 'forwarded' use it"
                    + " from trusted proxies only")
        case .requestCaller where config.auth(of: endpoint) != nil && isPublic(endpoint):
            problems.error(
                at: reference.location,
                uses + "\(endpoint.title) is public ('auth: none'), so there is no caller")
        case .requestCaller where config.auth(of: endpoint) == nil && hasAuth(endpoint):
            problems.error(
                at: reference.location,
                uses + "\(endpoint.title) has no 'auth', so there is no caller")
        case .requestHeader, .requestQuery, .requestClient, .requestCaller:
            break
        }
    }

    /// The headers of an endpoint are sent with every call, so they cannot use a response: the call
    /// that has it would wait for itself.
    private mutating func checkHeaders(of endpoint: Config.Endpoint) {
        checkDuplicates(in: endpoint.headers.map(\.name), of: "headers")
        let title = "'headers' of \(endpoint.title)"
        for reference in endpoint.headers.flatMap(\.value.locatedReferences) {
            checkReference(reference, of: title, in: endpoint)
            if let call = endpoint.call(for: reference.value),
                endpoint.calls.contains(where: { $0.name.value == call })
            {
                problems.error(
                    at: reference.location,
                    "\(title) cannot use the response of a call: all calls send them, also"
                        + " '\(call)'; write the header in 'headers' of the other calls")
            } else if reference.value.isOptional,
                isAlwaysPresent(reference.value.source, in: endpoint)
            {
                problems.warning(
                    at: reference.location,
                    "\(title) uses {\(reference.value.text)}; the '?' has no effect: the value is"
                        + " always present")
            }
        }
    }

    /// A `?` is allowed where a value can be left out, after a reference whose value may be absent.
    private mutating func checkOptional(
        _ reference: Located<TemplateText.Reference>, of call: Config.Call,
        in endpoint: Config.Endpoint
    ) {
        let uses = "call '\(call.name.value)' uses {\(reference.value.text)}; "
        if call.pathReferences.contains(where: { $0.location == reference.location }) {
            problems.error(
                at: reference.location,
                uses + "a path segment cannot be left out; remove the '?' or use it in the query")
        } else if let name = endpoint.call(for: reference.value) {
            guard endpoint.calls.contains(where: { $0.name.value == name }) else { return }
            problems.error(
                at: reference.location,
                uses + "only values of the request can be optional, not values of a call;"
                    + " remove the '?'")
        } else if isAlwaysPresent(reference.value.source, in: endpoint) {
            problems.warning(
                at: reference.location, uses + "the '?' has no effect: the value is always present")
        }
    }

    /// Every name in `after` must be a call and occur once.
    private mutating func checkAfter(of call: Config.Call, in endpoint: Config.Endpoint) {
        let calls = endpoint.calls.map(\.name.value)
        var seen: [String] = []
        for name in call.after {
            if !calls.contains(name.value) {
                guard hasAllCalls(of: endpoint) else { continue }
                let near = Suggestion.hint(for: name.quoted, among: calls)
                let list = near.isEmpty ? " (calls here: \(calls.joined(separator: ", ")))" : near
                problems.error(
                    at: name.location,
                    "'after' of call '\(call.name.value)': there is no call '\(name.quoted)'" + list
                )
            } else if seen.contains(name.value) {
                problems.error(
                    at: name.location,
                    "'after' of call '\(call.name.value)' has '\(name.quoted)' twice")
            }
            seen.append(name.value)
        }
    }

    /// Whether every valid request has the value.
    private func isAlwaysPresent(
        _ source: TemplateText.Source, in endpoint: Config.Endpoint
    ) -> Bool {
        switch source {
        case .name(let name):
            let param = endpoint.params.first { $0.name.value == name }
            return endpoint.route?.value.parameters.contains(name) == true
                || param?.required?.value == true || param?.fallback != nil
        case .requestBody(let path): return path.isEmpty && endpoint.body != nil
        // A request without a caller does not reach the calls, but a token may lack `sub`.
        case .requestCaller: return config.tokenAuthenticators(of: endpoint).isEmpty
        case .call, .requestHeader, .requestQuery, .requestClient: return false
        }
    }

    private mutating func checkResponse(
        of name: String, in endpoint: Config.Endpoint, _ uses: String, at location: SourceLocation
    ) {
        let used = endpoint.calls.first { $0.name.value == name }
        if used?.request?.method.value == .head {
            problems.error(at: location, uses + "the response to a HEAD call has no body")
        }
    }

    private mutating func checkCycles(of endpoint: Config.Endpoint) {
        let calls = endpoint.calls
        for cycle in endpoint.callGraph.cycles {
            guard let first = cycle.first else { continue }
            let next = calls[cycle.count > 1 ? cycle[1] : first].name.value
            let references = calls[first].references + (calls[first].when?.references ?? [])
            let reference = references.first { endpoint.call(for: $0.value) == next }
            let entry = calls[first].after.first { $0.value == next }
            let names = (cycle + [first]).map { calls[$0].name.value }
            problems.error(
                at: reference?.location ?? entry?.location ?? calls[first].name.location,
                cycle.count == 1
                    ? "call '\(next)' waits for itself"
                    : "calls wait for each other: \(names.joined(separator: " -> "))")
        }
    }
}

/// The names that references of an endpoint may use, and the order of its calls.
extension Config.Endpoint {
    /// In the order of the route, then those that are only declared.
    package var parameterNames: [String] {
        let inPath = route?.value.parameters ?? []
        return inPath + params.map(\.name.value).filter { !inPath.contains($0) }
    }

    /// The call whose response a reference uses; a parameter of that name takes precedence.
    func call(for reference: TemplateText.Reference) -> String? {
        switch reference.source {
        case .name(let name): parameterNames.contains(name) ? nil : name
        case .call(let name, _): name
        case .requestHeader, .requestQuery, .requestClient, .requestCaller, .requestBody: nil
        }
    }

    /// The order of the calls: by references, by `after`, and by the responses that `when` uses.
    package var callGraph: CallGraph {
        CallGraph(
            names: calls.map(\.name.value),
            uses: calls.map { call in call.references.compactMap { self.call(for: $0.value) } },
            after: calls.map { call in
                call.after.map(\.value)
                    + (call.when?.references ?? []).compactMap { self.call(for: $0.value) }
            })
    }
}

extension Config.Endpoint {
    /// The references of a call's request, with the references of the headers that it inherits.
    package func references(sentBy call: Config.Call) -> [Located<TemplateText.Reference>] {
        call.references + headers(inheritedBy: call).flatMap(\.value.locatedReferences)
    }

    /// The references of the conditions.
    package var conditionReferences: [Located<TemplateText.Reference>] {
        calls.flatMap { $0.when?.references ?? [] }
    }

    /// All references of its calls, of their conditions, and of `respond`.
    package var references: [Located<TemplateText.Reference>] {
        calls.flatMap { references(sentBy: $0) } + conditionReferences + respondReferences
    }
}

extension Config.Call {
    /// All references of the request itself, in the order path, headers, body.
    package var references: [Located<TemplateText.Reference>] {
        let templates = [request?.target].compactMap { $0 } + headers.map(\.value)
        return [each?.list].compactMap { $0 } + templates.flatMap(\.locatedReferences)
            + (content?.pieces ?? []).compactMap(\.reference)
    }

    /// The references in the path, without those in the query.
    var pathReferences: [Located<TemplateText.Reference>] {
        guard let target = request?.target else { return [] }
        let path = target.template.segments.prefix { segment in
            if case .literal(let text) = segment { !text.contains("?") } else { true }
        }
        return path.compactMap { segment in
            guard case .reference(let reference) = segment else { return nil }
            return Located(reference, at: target.location(of: reference))
        }
    }
}
