import Basics
import JSONText
import YAMLReader

/// The rules for calls.
extension ConfigCheck {
    mutating func checkCall(_ call: Config.Call, of endpoint: Config.Endpoint) {
        checkBackend(of: call)
        checkPath(of: call, in: endpoint)
        checkForwarded(of: call, in: endpoint)
        checkForward(call.forward)
        checkRelay(of: call)
        checkShape(of: call)
        checkFallback(of: call)
        checkWhen(of: call, in: endpoint)
        checkPlace(of: call)
        checkDuplicates(in: call.headers.map(\.name), of: "headers")
        checkReplacedHeaders(of: call, in: endpoint)
        if call.body != nil, let form = call.form {
            problems.error(
                at: form.location,
                "call '\(call.name.value)' has 'body' and 'form'; a request has one body")
        }
        if let method = call.request?.method, let body = call.content,
            method.value == .get || method.value == .head
        {
            problems.error(
                at: body.location,
                "a \(method.value.rawValue) request has no body; use post, put or patch")
        }
    }

    /// Warns of a forwarded header that a configured header replaces.
    private mutating func checkReplacedHeaders(
        of call: Config.Call, in endpoint: Config.Endpoint
    ) {
        let ofCall = call.headers.map { $0.name.value.lowercased() }
        let ofEndpoint = endpoint.headers.map { $0.name.value.lowercased() }
        let ofBackend =
            call.from.flatMap { backend(named: $0.value) }?.headers
            .map { $0.name.value.lowercased() } ?? []
        for name in config.forward(of: call, in: endpoint)?.headers ?? [] {
            let lowercased = name.value.lowercased()
            let source: String
            if ofCall.contains(lowercased) {
                source = "of call '\(call.name.value)'"
            } else if ofEndpoint.contains(lowercased) {
                source = "of the endpoint"
            } else if ofBackend.contains(lowercased) {
                source = "of backend '\(call.from?.quoted ?? "")'"
            } else {
                checkForwarded(name, to: call)
                continue
            }
            problems.warning(
                at: name.location,
                "'\(name.quoted)' is not forwarded to call '\(call.name.value)': 'headers'"
                    + " \(source) replaces the client's")
        }
    }

    /// Warns of a forwarded header with which a backend may send something else than whole JSON.
    private mutating func checkForwarded(_ name: Located<String>, to call: Config.Call) {
        let result: String
        switch name.value.lowercased() {
        case "accept-encoding": result = "a compressed response, which is not decoded"
        case "range": result = "a part of its JSON"
        default: return
        }
        problems.warning(
            at: name.location,
            "'\(name.quoted)' is forwarded to call '\(call.name.value)': a backend that follows it sends"
                + " \(result), and the call fails")
    }

    private mutating func checkBackend(of call: Config.Call) {
        guard let from = call.from, backend(named: from.value) == nil, hasAllBackends else {
            return
        }
        let known = config.backends.map(\.name.value)
        let near = Suggestion.hint(for: from.quoted, among: known)
        let list = near.isEmpty ? " (there are \(known.joined(separator: ", ")))" : near
        problems.error(
            at: from.location,
            "call '\(call.name.value)': there is no backend '\(from.quoted)'"
                + (known.isEmpty ? "" : list))
    }

    /// Warns of `:name`, which other gateways and routers use for a parameter.
    private mutating func checkPath(of call: Config.Call, in endpoint: Config.Endpoint) {
        guard let target = call.request?.target, target.written == nil else { return }
        let params = endpoint.parameterNames
        for segment in target.template.text.prefix(while: { $0 != "?" }).split(separator: "/") {
            let name = String(segment.dropFirst())
            guard segment.hasPrefix(":"), params.contains(name) else { continue }
            problems.warning(
                at: target.location,
                "call '\(call.name.value)': ':\(name)' is sent as it is; write {\(name)} for the"
                    + " parameter")
        }
    }

    private mutating func checkRelay(of call: Config.Call) {
        let isRequired = call.required?.value == true
        let written = [
            ("relay_status", call.relayStatus?.location), ("relay_body", call.relayBody?.location),
        ]
        for (key, location) in written {
            guard let location, !isRequired, isRead("required", key, of: call.location)
            else { continue }
            problems.warning(
                at: location,
                "'\(key)' has no effect: call '\(call.name.value)' is not required, so its failure"
                    + " does not determine the status")
        }
        guard let relayed = call.relayStatus else { return }
        let accepted = call.accept?.value ?? PlanDefaults.accept
        for range in relayed.value where accepted.contains(where: { $0.overlaps(range) }) {
            problems.warning(
                at: relayed.location,
                "status \(relayed.written ?? range.spelled) is in 'accept', so it is not a failure that could be relayed"
            )
        }
    }

    /// Paths that are each valid can conflict with each other.
    private mutating func checkShape(of call: Config.Call) {
        guard let location = call.rename.first?.path.location else { return }
        for entry in call.rename where entry.isForAllKeys {
            guard entry.name.value != Config.Call.Rename.camelCase else { continue }
            problems.error(
                at: entry.name.location,
                "'rename' of call '\(call.name.value)': '*' names all keys, and its value must be"
                    + " '\(Config.Call.Rename.camelCase)'; a key that is named * is written in quotes"
            )
        }
        let renames = call.renamedMembers.compactMap { entry in
            (try? JSONPath(entry.path.value)).map { JSONShape.Rename($0, to: entry.name.value) }
        }
        do throws(JSONShapeError) {
            _ = try JSONShape(rename: renames)
        } catch {
            let isConfidential = call.rename.contains { $0.name.written != nil }
            let message =
                isConfidential ? "two members of one object get the same name" : "\(error)"
            problems.error(at: location, "'rename' of call '\(call.name.value)': \(message)")
        }
    }

    private mutating func checkFallback(of call: Config.Call) {
        guard let fallback = call.ifFailed else { return }
        if call.required?.value == true, call.each == nil {
            problems.warning(
                at: fallback.location,
                "'if_failed' has no effect: call '\(call.name.value)' is required, so its failure"
                    + " fails the request")
        }
        guard case .value(let json) = fallback.value, json != Bytes("null") else { return }
        switch call.at?.value {
        case .root where json.span[0] != UInt8(ascii: "{"):
            problems.error(
                at: fallback.location, "'if_failed' must be an object, null or omit with 'at: .'")
        case .array where call.each == nil && json.span[0] != UInt8(ascii: "["):
            problems.error(
                at: fallback.location,
                "'if_failed' must be an array, null or omit where its elements are appended")
        case .absent:
            problems.warning(
                at: fallback.location,
                "'if_failed' has no effect: the response does not contain call"
                    + " '\(call.name.value)'")
        case nil, .root, .member, .array, .elements: break
        }
    }
}
