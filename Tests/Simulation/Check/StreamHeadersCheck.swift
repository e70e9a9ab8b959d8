import Rehearsal

/// The heads that pass through: what belongs to a connection does not pass, in neither direction, and the
/// fields of the configuration are set, removed and replaced.
struct StreamHeadersCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            for attempt in model.attempts { check(attempt, model) }
            checkResponse(model)
        }
    }

    private func add(_ model: StreamModel, _ text: String) {
        violations.add(.headers, model.mark, text)
    }

    // MARK: To the host

    private func check(_ attempt: StreamAttempt, _ model: StreamModel) {
        guard let config = model.config, let endpoint = model.endpoint, let proxy = model.proxy
        else { return }
        let request = model.request.request
        if config.endpoint(of: request)?.index != endpoint.index {
            violations.add(
                .calls, model.mark,
                "'\(config.name(of: endpoint))' sent a request of another endpoint to a host")
        }
        var auth = AuthModel(request: request, config: config, endpoint: endpoint)
        if auth.callerDependsOnLimit { auth.checksPasswords = !showsOtherCaller(attempt, auth) }
        if case .refused = auth.outcome {
            violations.add(.auth, model.mark, "a refused request was sent to a host")
        }
        let expected = ProxyHeadModel(
            request: request, config: config, endpoint: endpoint, proxy: proxy,
            host: attempt.host, checksPasswords: auth.checksPasswords)
        if attempt.head.startLine != expected.startLine {
            add(model, "a host got '\(attempt.head.startLine)', expected '\(expected.startLine)'")
        }
        let via = attempt.head.all("via")
        if via.count != 1 || !via[0].hasPrefix("1.1 tributary-") {
            add(model, "a host got via: \(via), expected the entry of the gateway")
        }
        if attempt.backend != proxy.backend { add(model, "sent to another backend") }
        for name in ProxyHeadModel.names {
            let values = attempt.head.all(name)
            let wanted = expected.lines[name] ?? []
            if values != wanted { add(model, "a host got \(name): \(values), expected \(wanted)") }
        }
    }

    /// Whether the caller is not the one of the password.
    private func showsOtherCaller(_ attempt: StreamAttempt, _ auth: AuthModel) -> Bool {
        guard case .accepted(let caller, _) = auth.identity else { return false }
        return attempt.head.all("x-caller") != [caller.rawValue]
    }

    // MARK: To the client

    private func checkResponse(_ model: StreamModel) {
        for interim in model.stream.interim { checkHop(interim, model) }
        // The clients use HTTP/1.1.
        if let proxy = model.proxy, proxy.interim != "all",
            model.stream.interim.contains(where: { $0.status == 103 })
        {
            add(model, "an interim response passed with 'interim: \(proxy.interim ?? "")'")
        }
        guard let response = model.request.response, let origin = model.origin else { return }
        checkHop(response, model)
        guard let config = model.config, let endpoint = model.endpoint, let proxy = model.proxy
        else { return }
        let rewrite = RewriteModel(config: config, endpoint: endpoint, proxy: proxy)
        for name in ["Date", "Location", "Set-Cookie"] {
            let sent = origin.script.fields.filter { $0.name == name }.map(\.value)
            let expected = sent.map { rewrite.value(of: name, $0) }
            if response.all(name) != expected {
                add(
                    model,
                    "the client got \(name): \(response.all(name)), the host sent \(sent),"
                        + " expected \(expected)")
            }
        }
    }

    private func checkHop(_ response: PeerMessage, _ model: StreamModel) {
        let isUpgrade = response.status == 101
        for name in ["X-Hop", "Keep-Alive", "Proxy-Authenticate", isUpgrade ? "TE" : "Upgrade"]
        where response[name] != nil {
            add(model, "the client got \(name) in a \(response.status)")
        }
    }
}
