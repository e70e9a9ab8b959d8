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

    /// The head is sent behind the required calls.
    private mutating func checkLateHeaders(of endpoint: Config.Endpoint) {
        for call in endpoint.calls where call.required?.value != true {
            guard endpoint.succeedWhen?.value != .all, let name = call.relayHeaders.first else {
                continue
            }
            problems.warning(
                at: name.location,
                "'relay_headers' of call '\(call.name.value)' has no effect on a response in parts whose"
                    + " head is sent before the call has settled; make the call required")
        }
    }

    /// `Accept` would ask the backends for a response in parts, too.
    private mutating func checkForwardedAccept(of endpoint: Config.Endpoint) {
        let names = endpoint.calls.flatMap { config.forward(of: $0, in: endpoint)?.headers ?? [] }
        var known: [SourceLocation] = []
        for name in names
        where name.value.lowercased() == "accept" && !known.contains(name.location) {
            known.append(name.location)
            problems.warning(
                at: name.location,
                "'forward' sends the client's 'Accept', which asks for the media type of 'parts', to backends"
                    + " that respond with JSON")
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
