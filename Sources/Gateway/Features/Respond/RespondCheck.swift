import Basics
import JSONText
import YAMLReader

/// The rules for `respond`.
extension ConfigCheck {
    mutating func checkRespond(of endpoint: Config.Endpoint) {
        guard let respond = endpoint.respond else { return }
        checkDuplicates(in: respond.headers.map(\.name), of: "headers")
        checkValues(of: respond, in: endpoint)
        checkPut(of: respond, in: endpoint)
        checkLocation(of: respond, in: endpoint)
        checkPaths(of: respond, in: endpoint)
        guard hasAllCalls(of: endpoint), isRead("proxy", of: endpoint.location) else { return }
        if endpoint.calls.isEmpty {
            checkAlone(respond, of: endpoint)
        } else {
            checkBesideCalls(respond)
        }
    }

    private mutating func checkValues(of respond: Config.Respond, in endpoint: Config.Endpoint) {
        let title = "'respond' of \(endpoint.title)"
        for reference in endpoint.respondReferences {
            checkReference(reference, of: title, in: endpoint, isTested: true)
            guard reference.value.isOptional else { continue }
            problems.warning(
                at: reference.location,
                "\(title) uses {\(reference.value.text)}; the '?' has no effect: an entry without a"
                    + " value is left out")
        }
    }

    private mutating func checkPut(of respond: Config.Respond, in endpoint: Config.Endpoint) {
        for member in respond.put {
            let name = member.name
            if name.value == Config.Endpoint.Report.key {
                problems.error(
                    at: name.location, "the key '\(name.value)' is reserved for the report")
            } else if name.value.contains(".") || name.value.contains("[") {
                problems.error(
                    at: name.location,
                    "'put' has '\(name.quoted)'; it must be the name of a member, not a path: a"
                        + " mapping as its value has inner members")
            }
        }
        for key in respond.memberKeys where respond.root != nil {
            problems.error(
                at: key.location, "'\(key.name)' and 'root' exclude each other in 'respond'")
        }
        for rule in respond.defaults {
            guard case .key(let key)? = (try? JSONPath(rule.path.value))?.steps.first,
                String(key) == Config.Endpoint.Report.key
            else { continue }
            problems.error(
                at: rule.path.location, "the key '\(rule.path.quoted)' is reserved for the report")
        }
    }

    /// A path that begins with a key of no call changes nothing; in `drop`, a typing error reveals the value.
    private mutating func checkPaths(of respond: Config.Respond, in endpoint: Config.Endpoint) {
        let known = endpoint.calls.map(\.firstKey)
        guard !known.contains(nil), hasAllCalls(of: endpoint),
            endpoint.calls.allSatisfy({ isRead("at", of: $0.location) })
        else { return }
        let put = respond.put.map(\.name.value)
        let paths =
            respond.drop.map { ("drop", $0, known.compactMap(\.self)) }
            + respond.defaults.map(\.path).map { ("default", $0, known.compactMap(\.self) + put) }
        for (name, path, keys) in paths where path.isVerbatim {
            let steps = (try? JSONPath(path.value))?.steps ?? []
            // A default of one key adds the member.
            if name == "default", steps.count == 1, case .key? = steps.first { continue }
            if case .key(let key)? = steps.first, keys.contains(String(key)) { continue }
            problems.warning(
                at: path.location,
                "'\(name)' has '\(path.quoted)', and no call has that key in the response"
                    + Suggestion.hint(for: path.quoted, among: keys))
        }
    }

    /// A value of the request in front of the path of a `Location` sends clients to any site (CWE-601).
    private mutating func checkLocation(of respond: Config.Respond, in endpoint: Config.Endpoint) {
        for header in respond.headers where header.name.value.lowercased() == "location" {
            var before = ""
            for segment in header.value.template.segments {
                guard case .reference(let reference) = segment else {
                    if case .literal(let text) = segment { before += text }
                    continue
                }
                if endpoint.call(for: reference) == nil, before.endsBeforePath {
                    problems.warning(
                        at: header.value.location,
                        "'Location' has {\(reference.text)} in front of its path, so that clients can"
                            + " choose the host; write the host or a path in front of it")
                    break
                }
                before += "x"
            }
        }
    }

    // MARK: With calls

    private mutating func checkBesideCalls(_ respond: Config.Respond) {
        if let status = respond.status, !(200...299).contains(status.value) || status.hasNoBody {
            problems.error(
                at: status.location,
                "'status' of 'respond' must be a status from 200 to 299 that has a body where there"
                    + " are calls, such as 200 or 201")
        }
        if let body = respond.body {
            problems.error(
                at: body.location,
                "'body' of 'respond' is for endpoints without calls; write 'root' for a body made of"
                    + " their responses, or 'put' for more members")
        }
        for header in respond.headers where header.isOfFixedResponse {
            problems.error(
                at: header.name.location,
                "'headers' of 'respond' must not have '\(header.name.quoted)': the gateway sets it where"
                    + " there are calls")
        }
    }

    // MARK: Without calls

    private mutating func checkAlone(_ respond: Config.Respond, of endpoint: Config.Endpoint) {
        for key in respond.memberKeys + [("root", respond.root?.location)].known {
            problems.error(
                at: key.location,
                "'\(key.name)' of 'respond' has no effect without calls; write 'body'")
        }
        let outside: [(name: String, location: SourceLocation?)] = [
            ("succeed_when", endpoint.succeedWhen?.location),
            ("report", endpoint.report?.location),
            ("partial_status", endpoint.partialStatus?.location),
            ("server_timing", endpoint.serverTiming?.location),
            ("timeout", endpoint.timeout?.location), ("forward", endpoint.forward?.location),
            ("headers", endpoint.headers.first?.name.location),
            ("deadline", endpoint.deadline?.location), ("expose", endpoint.expose?.location),
        ]
        for key in outside.known {
            problems.error(at: key.location, "'\(key.name)' has no effect: there are no calls")
        }
        checkBody(of: respond, in: endpoint)
    }

    private mutating func checkBody(of respond: Config.Respond, in endpoint: Config.Endpoint) {
        guard let body = respond.body else { return }
        if let status = respond.status, status.hasNoBody {
            problems.error(
                at: body.location, "a response with the status \(status.value) has no 'body'")
        }
        guard case .text(let text) = body.value,
            let reference = endpoint.parameterNames.first(where: { text.contains("{\($0)}") })
                ?? ["request.", "token."].first(where: { text.contains("{\($0)") })
        else { return }
        problems.warning(
            at: body.location,
            "'body' sends the text as it is, also {\(reference)...}; write a mapping or a list for a JSON"
                + " body with values")
    }
}

extension Located<Int> {
    /// The status of a response without a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
    fileprivate var hasNoBody: Bool { [204, 205, 304].contains(value) }
}

extension Config.Call.HeaderTemplate {
    /// Whether only a response without calls may have it.
    fileprivate var isOfFixedResponse: Bool {
        HeaderSyntax.ofFixedResponses.contains(name.value.lowercased())
    }
}

extension Config.Respond {
    /// The keys that change members, each at its first entry.
    fileprivate var memberKeys: [(name: String, location: SourceLocation)] {
        [
            ("put", put.first?.name.location), ("default", defaults.first?.path.location),
            ("drop", drop.first?.location),
        ].known
    }
}

extension [(name: String, location: SourceLocation?)] {
    /// Without keys that are not written.
    fileprivate var known: [(name: String, location: SourceLocation)] {
        compactMap { key in key.location.map { (key.name, $0) } }
    }
}

extension Config.Call {
    /// The key of the root that leads to its part; nil if there are several.
    fileprivate var firstKey: String? {
        switch at?.value {
        case nil: name.value
        case .root: nil
        case .member(let keys), .array(let keys): keys.first
        case .absent, .elements: ""
        }
    }
}

extension String {
    /// Whether a value behind this text is a part of the host of a URL, or of its scheme.
    fileprivate var endsBeforePath: Bool {
        guard let start = firstRange(of: "//") else { return isEmpty }
        guard start.lowerBound == startIndex || self[..<start.lowerBound].hasSuffix(":") else {
            return false
        }
        return !self[start.upperBound...].contains("/")
    }
}
