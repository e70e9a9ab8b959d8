import Basics
import YAMLReader

/// Texts that are sent as they are, although they have what would be a reference elsewhere.
extension ConfigCheck {
    mutating func checkFixedTexts() {
        for backend in config.backends {
            checkFixedTexts(
                in: backend.headers, "'headers' of backend '\(backend.name.value)'",
                "; write the header in 'headers' of an endpoint or a call")
        }
        checkFixedTexts(in: config.responseHeaders, "'response_headers'")
        for endpoint in config.endpoints {
            checkFixedTexts(in: endpoint.responseHeaders, "'response_headers'")
            for call in endpoint.calls {
                checkFixedBody(of: call, in: endpoint)
                guard let fallback = call.ifFailed, fallback.isVerbatim,
                    case .value(let json) = fallback.value,
                    String(json).hasReference(toOneOf: endpoint.calls.map(\.name.value))
                else { continue }
                warn(at: fallback.location, "'if_failed' of call '\(call.name.value)'")
            }
        }
    }

    private mutating func checkFixedTexts(
        in headers: [Config.Header], _ title: String, _ advice: String = ""
    ) {
        for header in headers
        where header.value.isVerbatim && header.value.value.hasReference(toOneOf: []) {
            warn(at: header.value.location, title, advice)
        }
    }

    private mutating func warn(
        at location: SourceLocation, _ title: String, _ advice: String = ""
    ) {
        problems.warning(
            at: location,
            "\(title) has no references: the text in braces is sent as it is\(advice)")
    }
}

extension String {
    /// Whether it contains a reference to the request, its token or one of these calls. `{name}` alone
    /// does not count: it may be part of a URI template (RFC 6570).
    fileprivate func hasReference(toOneOf calls: [String]) -> Bool {
        split(separator: "{", omittingEmptySubsequences: false).dropFirst().contains { piece in
            guard let end = piece.firstIndex(of: "}") else { return false }
            return String(piece[..<end]).isReference(toOneOf: calls)
        }
    }

    /// Whether it would be, in braces, a reference to the request, its token, a part of the response to
    /// one of these calls, or one of these parameters.
    func isReference(toOneOf calls: [String], params: [String] = []) -> Bool {
        guard let template = try? TemplateText(parsing: "{\(self)}"),
            template.segments.count == 1, let source = template.references.first?.source
        else { return false }
        return switch source {
        case .requestHeader, .requestQuery, .requestClient, .requestCaller, .requestBody: true
        case .call(let name, _): name == "token" || calls.contains(name)
        case .name(let name): params.contains(name)
        }
    }
}
