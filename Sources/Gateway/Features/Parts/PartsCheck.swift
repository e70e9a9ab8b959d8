import YAMLReader

/// The rules for `parts`.
extension ConfigCheck {
    mutating func checkParts(of endpoint: Config.Endpoint) {
        guard let parts = endpoint.parts else { return }
        refuse(
            "parts", at: parts.location, withProxyOf: endpoint,
            "a response is passed through as it arrives")
        checkFormats(of: parts)
        let excluded: [(key: String, location: SourceLocation?, reason: String)] = [
            (
                "min_duration", endpoint.padding.minimum?.location,
                "the time of the first part is the time of the calls"
            ),
            ("root", endpoint.respond?.root?.location, "a record is a member of the response"),
            (
                "status", endpoint.respond?.status?.location,
                "a response in parts has the status 200"
            ),
            (
                "server_timing",
                endpoint.serverTiming?.value == true
                    ? endpoint.serverTiming?.location : nil,
                "the times are not known when the head is sent"
            ),
        ]
        for (key, location, reason) in excluded {
            guard let location else { continue }
            problems.error(
                at: location, "'\(key)' and 'parts' exclude each other: \(reason)")
        }
        if endpoint.calls.isEmpty, endpoint.proxy == nil, endpoint.respond != nil,
            hasAllCalls(of: endpoint)
        {
            problems.error(at: parts.location, "'parts' needs calls")
        }
        checkLateHeaders(of: endpoint)
        checkForwardedAccept(of: endpoint)
    }

    /// The head is sent after the required calls, or after the first success.
    private mutating func checkLateHeaders(of endpoint: Config.Endpoint) {
        let early = endpoint.earlyCalls
        for call in endpoint.calls where !early.contains(call.name.value) && call.each == nil {
            guard let name = call.relayHeaders.first else { continue }
            problems.warning(
                at: name.location,
                "'relay_headers' of call '\(call.name.value)' has no effect on a response in parts whose"
                    + " head is sent before the call has settled; make the call required")
        }
    }

    /// `Accept` would ask the backends for a response in parts, too.
    private mutating func checkForwardedAccept(of endpoint: Config.Endpoint) {
        var known: [SourceLocation] = []
        for call in endpoint.calls {
            let backend = call.from.flatMap { self.backend(named: $0.value) }
            let own =
                (call.headers + endpoint.headers).map(\.name.value)
                + (backend?.headers.map(\.name.value) ?? [])
            guard !own.contains(where: { $0.lowercased() == "accept" }) else { continue }
            for name in config.forward(of: call, in: endpoint)?.headers ?? []
            where name.value.lowercased() == "accept" && !known.contains(name.location) {
                known.append(name.location)
                problems.warning(
                    at: name.location,
                    "'forward' sends the client's 'Accept', which asks for the media type of 'parts', to"
                        + " backends that respond with JSON")
            }
        }
    }

    private mutating func checkFormats(of parts: Config.Parts) {
        var seen: Set<PartFormat> = []
        for format in parts.formats where !seen.insert(format.value).inserted {
            problems.error(
                at: format.location, "'as' of 'parts' has '\(format.value.rawValue)' twice")
        }
    }
}

extension Config.Endpoint {
    /// The names of the calls that have settled when the head of a response in parts is sent.
    fileprivate var earlyCalls: Set<String> {
        guard succeedWhen?.value != .all, calls.count > 1 else {
            return Set(calls.map(\.name.value))
        }
        var early: Set<String> = []
        var open = calls.filter { $0.required?.value == true }.map(\.name.value)
        while let name = open.popLast() {
            guard early.insert(name).inserted,
                let call = calls.first(where: { $0.name.value == name })
            else { continue }
            open += call.references.compactMap { self.call(for: $0.value) }
            open += call.after.map(\.value)
            if call.mayBeMisplaced {
                open += calls.filter { $0.member == call.member }.map(\.name.value)
            }
        }
        return early
    }
}

extension Config.Call {
    /// The member of the response that has its part; nil for none, and for all.
    fileprivate var member: String? { at == nil ? name.value : at?.value.firstKey }

    /// Whether other parts decide if its part can be placed, so that the head waits for them.
    fileprivate var mayBeMisplaced: Bool {
        guard required?.value == true, member != nil else { return false }
        if case .member(let keys)? = at?.value, keys.count > 1 { return true }
        if case .array? = at?.value { return true }
        return onCollision?.value == .fail
    }
}
