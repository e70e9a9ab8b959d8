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
        let keys: [(name: String, location: SourceLocation?)] = [
            ("put", respond.put.first?.name.location),
            ("default", respond.defaults.first?.path.location),
            ("drop", respond.drop.first?.location),
        ]
        for key in keys {
            guard let location = key.location, respond.root != nil else { continue }
            problems.error(at: location, "'\(key.name)' and 'root' exclude each other in 'respond'")
        }
    }

    /// A value of the request at the start of a `Location` sends clients to any site (CWE-601).
    private mutating func checkLocation(of respond: Config.Respond, in endpoint: Config.Endpoint) {
        for header in respond.headers where header.name.value.lowercased() == "location" {
            guard case .reference(let reference)? = header.value.template.segments.first,
                endpoint.call(for: reference) == nil
            else { continue }
            problems.warning(
                at: header.value.location,
                "'Location' begins with {\(reference.text)}, so that a request decides about the site; write"
                    + " a path in front of it")
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
        for header in respond.headers where header.isContentType {
            problems.error(
                at: header.name.location,
                "'headers' of 'respond' must not have '\(header.name.quoted)': the response of calls"
                    + " is JSON")
        }
    }

    // MARK: Without calls

    private mutating func checkAlone(_ respond: Config.Respond, of endpoint: Config.Endpoint) {
        let inside: [(name: String, location: SourceLocation?)] = [
            ("put", respond.put.first?.name.location),
            ("default", respond.defaults.first?.path.location),
            ("drop", respond.drop.first?.location), ("root", respond.root?.location),
        ]
        for key in inside {
            guard let location = key.location else { continue }
            problems.error(
                at: location,
                "'\(key.name)' of 'respond' has no effect without calls; write 'body'")
        }
        let outside: [(name: String, location: SourceLocation?)] = [
            ("succeed_when", endpoint.succeedWhen?.location),
            ("report", endpoint.report?.location),
            ("partial_status", endpoint.partialStatus?.location),
            ("server_timing", endpoint.serverTiming?.location),
            ("timeout", endpoint.timeout?.location), ("forward", endpoint.forward?.location),
            ("headers", endpoint.headers.first?.name.location),
        ]
        for key in outside {
            guard let location = key.location else { continue }
            problems.error(at: location, "'\(key.name)' has no effect: there are no calls")
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
            let template = try? TemplateText(parsing: text),
            let reference = template.references.first(where: { $0.means(valueOf: endpoint) })
        else { return }
        problems.warning(
            at: body.location,
            "'body' sends the text as it is, also {\(reference.text)}; write a mapping or a list for a"
                + " JSON body with values")
    }
}

extension Located<Int> {
    /// The status of a response without a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
    fileprivate var hasNoBody: Bool { [204, 205, 304].contains(value) }
}

extension Config.Call.HeaderTemplate {
    fileprivate var isContentType: Bool { name.value.lowercased() == "content-type" }
}

extension TemplateText.Reference {
    /// Whether it looks like a value of the request, and not like other text in braces.
    fileprivate func means(valueOf endpoint: Config.Endpoint) -> Bool {
        switch source {
        case .name(let name): endpoint.parameterNames.contains(name)
        case .call(let name, _): name == "token"
        case .requestHeader, .requestQuery, .requestClient, .requestCaller, .requestBody: true
        }
    }
}
