import Basics
import HTTP
import Patterns

/// The heads that are passed on: which fields of the client reach the backend, and which of the
/// backend reach the client.
final class ProxyHead {
    let plan: ProxyPlan
    private let params: [ParamPlan]
    /// Whether a header uses a parameter, by its index.
    private let usedParams: [Bool]
    private let proxies: TrustedProxies
    /// The fields that do not pass to the backend from any client, also with `-` for `_`.
    private let dropped: FieldNameSet
    /// `dropped`, and the names with `-` for those with `_` that the gateway decides by.
    private let refused: FieldNameSet
    /// The fields that the gateway decides by: no other spelling of theirs passes.
    private let used: FieldNameSet
    private let via: ViaEntry
    /// Nil if all fields of the client pass.
    private let forwarded: FieldNameSet?
    /// The lines of a trusted proxy that generated lines continue.
    private let generated: FieldNameSet
    private let forwardedLines: [ForwardedLine]
    /// Whether a cookie has a credential that does not pass.
    private let dropsCookies: Bool
    /// Whether the endpoint responds to CORS itself.
    private let hasCORS: Bool
    /// Nil unless the backend receives the certificates of clients.
    private let clientCert: ClientCertField?

    init(_ plan: ProxyPlan, of endpoint: EndpointPlan, via: ViaEntry) {
        self.via = via
        self.plan = plan
        params = endpoint.params
        let references = plan.headers.flatMap(\.value.references)
        usedParams = endpoint.params.indices.map { index in
            references.contains { if case .param(index) = $0.source { true } else { false } }
        }
        proxies = endpoint.proxies
        let used =
            endpoint.usedHeaders + references.compactMap(\.source.headerName)
            + plan.credentialHeaders + (plan.forward?.headers ?? []) + [.userAgent]
        self.used = FieldNameSet(used)
        let removed = Self.ownFields + plan.removed + plan.credentialFields
        let dropped = removed + removed.map(\.hyphenated)
        self.dropped = FieldNameSet(dropped)
        // Of `X_User`, which is used, `X-User` is another spelling.
        refused = FieldNameSet(
            dropped + used.map(\.hyphenated).filter { !used.contains($0) })
        forwarded = plan.forward.map { FieldNameSet($0.headers) }
        generated = FieldNameSet(plan.forwarded)
        forwardedLines = ForwardedLine.all(named: plan.forwarded)
        dropsCookies = plan.credentials.contains { $0.isCookie }
        hasCORS = endpoint.cors != nil
        clientCert = plan.sendsClientCert ? ClientCertField() : nil
    }

    /// The gateway sends its own with every request.
    private static let ownFields: [FieldName] = [
        .requestID, .traceparent, .tracestate, "Gateway-Deadline-Ms",
    ]

    /// Room for the fields that are added to the client's fields, in bytes.
    private static let addedBytes = 256

    // MARK: To the backend

    /// The fields of the request, without the fields of the backend's configuration.
    func requestFields(_ head: RequestHead, _ context: RequestContext) -> Fields {
        let client = context.clientAddress(of: head, proxies)
        let isProxied = client.isProxied
        var cookies = false
        var fields = head.fields.endToEnd(reserving: Self.addedBytes) { name in
            passes(name, isProxied: isProxied, &cookies)
        }
        if cookies { appendCookies(head.fields, to: &fields) }
        appendForwarded(head, client, context, to: &fields)
        // A trusted proxy states the certificate of its client; its own does not identify a client.
        if let clientCert, !isProxied, let identity = context.peer.facts?.identity {
            clientCert.append(identity, to: &fields)
        }
        fields.append(.via, via.value(for: head.version))
        appendConfigured(head, context, to: &fields)
        return fields
    }

    private func passes(
        _ name: Span<UInt8>, isProxied: Bool, _ hasCookies: inout Bool
    ) -> Bool {
        if refused.contains(name) || (!name.isUsualFieldName && !passesUnusual(name)) {
            return false
        }
        // Only a trusted proxy may state the client; the generated lines continue its lines.
        if name.isAboutClient, !isProxied || !isMaintained(name) || generated.contains(name) {
            return false
        }
        if let forwarded, !forwarded.contains(name), !name.describesBody, !name.isVia {
            return false
        }
        if dropsCookies, name.equalsIgnoringCase("Cookie") {
            hasCookies = true
            return false
        }
        return true
    }

    /// Whether a field passes whose name has other bytes than letters, digits and `-`. Many servers take
    /// `_` for `-`, and PHP also `.`, so that a client could state what the gateway states or decides by.
    private func passesUnusual(_ name: Span<UInt8>) -> Bool {
        let hyphenated = name.hyphenated
        let other = hyphenated.span
        if FieldName.isOfHop(other) || dropped.contains(other) || other.isAboutClient
            || other.describesBody
        {
            return false
        }
        if used.contains(other) || refused.contains(other), !used.contains(name) { return false }
        if plan.passesUnderscores || forwarded?.contains(name) == true { return true }
        return name.firstOffset(of: UInt8(ascii: "_")) == nil
    }

    /// False for the family of forwarding headers that trusted proxies do not maintain: they pass it
    /// on as the client sent it.
    private func isMaintained(_ name: Span<UInt8>) -> Bool {
        switch proxies.source {
        case .forwardedFor: !name.equalsIgnoringCase("Forwarded")
        case .forwarded: !name.hasPrefix("X-Forwarded-")
        }
    }

    /// The cookies without those that have a credential.
    private func appendCookies(_ source: Fields, to fields: inout Fields) {
        let dropped = plan.credentials.compactMap { source in
            if case .cookie(let name) = source { name } else { nil }
        }
        for line in source.all(.cookie) {
            if let rest = FieldValue(line.bytes.withoutCookies(named: dropped)),
                !rest.bytes.isEmpty
            {
                fields.append(.cookie, rest)
            }
        }
    }

    private func appendForwarded(
        _ head: RequestHead, _ client: ClientAddress, _ context: RequestContext,
        to fields: inout Fields
    ) {
        guard !forwardedLines.isEmpty else { return }
        ForwardedFields(
            head, client, proxies.source,
            isSecure: context.peer.facts?.isSecure == true
        ).append(forwardedLines, to: &fields)
    }

    /// A header with a value that the request does not have is left out.
    private func appendConfigured(
        _ head: RequestHead, _ context: RequestContext, to fields: inout Fields
    ) {
        guard !plan.headers.isEmpty else { return }
        var work = PatternWork()
        let values = CallValues(
            ofHead: head, Params(params, where: usedParams, of: head, &work), context, proxies)
        for (name, template) in plan.headers {
            guard let value = template.fieldValue(in: values) else { continue }
            fields.append(name, value)
        }
    }

    /// Nil for the host of the backend's URL.
    func host(_ head: RequestHead) -> FieldValue? {
        switch plan.host {
        case .backend: nil
        case .client: head.target.authority.flatMap { FieldValue($0) } ?? head.fields[.host]
        case .name(let name): name
        }
    }

    /// The protocol that the client wants to switch to (RFC 9110 7.8), if the endpoint lists it; others
    /// are not passed on.
    func upgrade(_ request: Request) -> FieldValue? {
        guard !plan.upgrades.isEmpty, case .bytes(let body) = request.body, body.isEmpty else {
            return nil
        }
        // `Proxy` has refused the request where the route does not list it.
        if request.head.opensWebSocket { return "websocket" }
        guard request.head.version == .http11,
            request.head.fields.lists(FieldName.upgrade.span, in: .connection)
        else { return nil }
        return plan.upgrades.first { name in
            request.head.fields.lists(name.bytes.span, in: .upgrade)
        }
    }

    // MARK: To the client

    /// The fields of a response, an interim one included.
    func responseFields(_ fields: Fields, _ context: RequestContext) -> Fields {
        let rule = ResponseFieldRule(context, hasCORS: hasCORS)
        var fields = fields.endToEnd(reserving: 0) { rule.passes($0) }
        plan.rewrite?.apply(to: &fields)
        return fields
    }

    /// The trailers of a response. A name that does not pass in the head does not pass behind the body
    /// either: clients may treat both alike (RFC 9110 6.5.1). Nor do those that decide how a message is
    /// routed or framed.
    func responseTrailers(_ fields: Fields, _ context: RequestContext) -> Fields {
        guard !fields.isEmpty else { return fields }
        let rule = ResponseFieldRule(context, hasCORS: hasCORS)
        return fields.endToEnd(reserving: 0) { !$0.isAboutClient && rule.passes($0) }
    }

    /// The trailers of a request. A name that must not pass as a header of the client does not pass
    /// behind the body either: a backend may treat both alike (RFC 9110 6.5.1).
    func requestTrailers(_ fields: Fields) -> Fields {
        guard !fields.isEmpty else { return fields }
        return fields.endToEnd(reserving: 0) { name in
            if refused.contains(name) || name.isAboutClient { return false }
            if !name.isUsualFieldName, !passesUnusual(name) { return false }
            if dropsCookies, name.equalsIgnoringCase("Cookie") { return false }
            return forwarded?.contains(name) ?? true
        }
    }
}

/// Which fields of the backend reach the client. Those that the gateway adds to all responses replace
/// the backend's, except `Vary`, which is a list.
private struct ResponseFieldRule {
    private let context: RequestContext
    private let hasCORS: Bool
    /// Those that the gateway adds.
    private let own: Fields
    private let ownNames: FieldNameFilter

    init(_ context: RequestContext, hasCORS: Bool) {
        self.context = context
        self.hasCORS = hasCORS
        own = context.responseFields
        ownNames = own.nameFilter
    }

    func passes(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 12 where name.equalsIgnoringCase("X-Request-Id"): return false
        // RFC 6797 7.2.
        case 25 where name.equalsIgnoringCase("Strict-Transport-Security"):
            if !context.isSecure(context.client) { return false }
        default: if hasCORS, name.hasPrefix("Access-Control-") { return false }
        }
        guard ownNames.mayContain(name), own.contains(named: name) else { return true }
        return name.equalsIgnoringCase("Vary") || name.equalsIgnoringCase("Set-Cookie")
    }
}

extension Span<UInt8> {
    /// Whether it is a field that only proxies send, and a client could forge.
    fileprivate var isAboutClient: Bool {
        hasPrefix("X-Forwarded-") || proxyFields.contains(self)
    }

    /// Whether it describes the body, so that the body has no meaning without it.
    fileprivate var describesBody: Bool { hasPrefix("Content-") }

    fileprivate var isVia: Bool { equalsIgnoringCase("Via") }

    fileprivate func hasPrefix(_ prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return count >= length && extracting(first: length).equalsIgnoringCase(prefix)
    }
}

private let proxyFields: FieldNameSet = FieldNameSet([
    .forwarded, .clientCert, "Client-Cert-Chain",
])

extension ProxyPlan {
    /// The names of the fields that have credentials, which do not pass.
    fileprivate var credentialFields: [FieldName] {
        credentials.compactMap { $0.isCookie ? nil : $0.header }
    }
}

extension CredentialSource {
    fileprivate var isCookie: Bool { if case .cookie = self { true } else { false } }
}

extension Bytes {
    /// The value of `Cookie` without these cookies (RFC 6265 4.2.1).
    fileprivate func withoutCookies(named names: [Bytes]) -> Bytes {
        var rest: [UInt8] = []
        for part in parts(separatedBy: UInt8(ascii: ";")) {
            let pair = part.trimmed
            let equals = pair.span.firstOffset(of: UInt8(ascii: "=")) ?? pair.count
            guard !pair.isEmpty, !names.contains(pair[0..<equals].trimmed) else { continue }
            if !rest.isEmpty { rest.append(literal: "; ") }
            rest.append(pair)
        }
        return Bytes(rest)
    }
}
