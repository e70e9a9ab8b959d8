package import Basics
package import HTTP
import JSONText
import Patterns
package import Reactor

/// How the gateway handles one request, without sending it: `tributary explain`.
///
/// Uses the same code as the gateway: the router, the rules of parameters and the templates. A
/// value that only a backend can supply is shown as its reference: `{user.id}`.
package struct Explanation {
    let plan: Plan
    /// A body without a `Content-Type` counts as one of an accepted type.
    private(set) var head: RequestHead
    /// Nil if it is not known; it then counts as valid.
    let body: Bytes?
    /// Whether literal values of headers, queries and bodies are masked, which may be secrets.
    let masksLiterals: Bool
    /// Nil if the credential is not checked, or the endpoint is public.
    private(set) var credential: ExplainedCredential?

    package init(
        _ plan: Plan, _ method: Method, _ target: Target, _ fields: Fields = Fields(),
        body: Bytes? = nil, masksLiterals: Bool = false, listener: String? = nil
    ) {
        self.body = body
        self.masksLiterals = masksLiterals
        (self.plan, head) = plan.assumingPlace(
            of: RequestHead(method: method, target: target, fields: fields), listener: listener)
        guard mayHaveBody, !fields.contains(.contentType), let type = endpoint?.contentTypes?.sample
        else { return }
        head = head.adding(.contentType, type)
    }

    /// A body that is not known is assumed for the methods that usually have one.
    var mayHaveBody: Bool {
        body.map { !$0.isEmpty } ?? [.post, .put, .patch].contains(head.method)
    }

    /// A copy that says whether the credential of the request is accepted, as far as nothing has to be
    /// sent for it. It is confined to the loop.
    package func checkingCredential(on loop: any Loop) -> Explanation {
        var copy = self
        copy.credential = endpoint.flatMap { endpoint in
            OfflineAuth(plan, endpoint, on: loop).map {
                ExplainedCredential($0, head)
            }
        }
        return copy
    }

    package var text: String {
        if let lines = entry.lines { return lines.text }
        return switch match {
        case .notFound: "route     none: 404\n"
        case .methodNotAllowed(let allow):
            "route     none for \(head.method): 405, Allow: \(allow)\n"
        case .endpoint(let index): text(of: plan.endpoints[index])
        }
    }

    /// Whether an endpoint accepts the request: its route matches, parameters and body are valid, and
    /// the values suffice for its calls.
    package var isAccepted: Bool {
        guard entry.isAccepted else { return false }
        if entry.lines != nil { return true }
        guard let endpoint, !isRefused(by: endpoint) else { return false }
        if let proxy = endpoint.proxy {
            return proxy.path.target(of: head.target, proxy.forward?.query) != nil
                && (try? endpoint.values(of: head, body: nil)) != nil
        }
        guard let calls = try? calls(of: endpoint) else { return false }
        return calls.failure == nil
    }

    var entry: ExplainedEntry { ExplainedEntry(plan, head) }

    private var match: Router.Match { plan.match(head) }

    /// The endpoint whose route matches the request.
    var endpoint: EndpointPlan? { plan.endpoint(for: head) }

    /// The reason if a feature of the endpoint refuses the request.
    private func refusal(by endpoint: EndpointPlan) -> String? {
        Features.all.lazy.compactMap { $0.refusal(of: self, by: endpoint) }.first
    }

    /// Whether the credential or a feature of the endpoint refuses the request, so that no call is sent.
    func isRefused(by endpoint: EndpointPlan) -> Bool {
        credential?.isRefused == true || refusal(by: endpoint) != nil
    }

    private func decisions(by endpoint: EndpointPlan) -> [String] {
        Features.all.flatMap { $0.decisions(on: self, by: endpoint) }
    }

    private func text(of endpoint: EndpointPlan) -> String {
        let request = ExplainedRequest(endpoint, head)
        var lines =
            (endpoint.proxy == nil ? request.lines : request.routeLines)
            + entry.conditions(endpoint) + decisions(by: endpoint)
        if credential?.isRefused == true { return lines.text }
        if let reason = refusal(by: endpoint) {
            return (lines + [reason]).text
        }
        if let proxy = endpoint.proxy {
            let backend = plan.backends[proxy.backend]
            return (lines + ExplainedProxy(proxy, of: endpoint, backend, head).lines).text
        }
        do throws(RefusedRequest) {
            let (calls, values) = (try calls(of: endpoint), try values(of: endpoint))
            lines += calls.lines
            lines += ExplainedResponse(endpoint, calls, values, head).lines
        } catch {
            lines += error.explained
        }
        return lines.text
    }

    func values(of endpoint: EndpointPlan) throws(RefusedRequest) -> AssumedValues {
        try endpoint.assumedValues(of: head, body: body, context: credential?.context)
    }

    /// Throws the reason if the request is refused before its calls.
    func calls(of endpoint: EndpointPlan) throws(RefusedRequest) -> ExplainedCalls {
        ExplainedCalls(
            endpoint, in: plan, try values(of: endpoint), masksLiterals: masksLiterals)
    }
}

extension Plan {
    func match(_ head: RequestHead) -> Router.Match {
        EndpointFinder(self).match(head.method, of: head, nil)
    }

    /// A request that names no host counts as one for a host that the gateway serves, and a request without a
    /// connection as one of a listener: the first ones of which an endpoint has the route, or else the path.
    ///
    /// - Parameter listener: the address of its listener; nil if it is not known
    fileprivate func assumingPlace(
        of head: RequestHead, listener: String?
    ) -> (Plan, RequestHead) {
        let heads = heads(naming: head)
        let names = listener.map { [$0] } ?? [nil] + endpoints.compactMap(\.matching.listener)
        var finder = EndpointFinder(self)
        var byPath: (Plan, RequestHead)?
        for name in names.unique {
            finder.assumedListener = name
            for head in heads {
                switch finder.match(head.method, of: head, nil) {
                case .endpoint: return (assuming(listener: name), head)
                case .methodNotAllowed: byPath = byPath ?? (assuming(listener: name), head)
                case .notFound: continue
                }
            }
        }
        return byPath ?? (assuming(listener: listener), heads.first ?? head)
    }

    /// The head of a request with each host that it may count as one for.
    private func heads(naming head: RequestHead) -> [RequestHead] {
        guard head.authority == nil else { return [head] }
        let hosts: [String?] =
            (entry.hosts?.samples ?? [nil])
            + endpoints.flatMap(\.matching.hosts).map { HostSyntax.sample(of: $0) }
        return hosts.unique.map { host in
            host.flatMap { FieldValue($0) }.map { head.adding(.host, $0) } ?? head
        }.filter { entry.hosts?.accepts($0) ?? true }
    }

    /// The endpoint whose route matches a request.
    func endpoint(for head: RequestHead) -> EndpointPlan? {
        if case .endpoint(let index) = match(head) { endpoints[index] } else { nil }
    }
}

extension [String?] {
    /// Without later ones that are equal.
    fileprivate var unique: [String?] {
        var seen: Set<String?> = []
        return filter { seen.insert($0).inserted }
    }
}

extension RequestHead {
    fileprivate func adding(_ name: FieldName, _ value: FieldValue) -> RequestHead {
        var fields = fields
        fields.append(name, value)
        return RequestHead(method: method, target: target, fields: fields)
    }
}

extension [String] {
    /// The lines as a text. Control characters are escaped: a value of the request must not add lines
    /// of its own, or change what a terminal shows.
    var text: String { map { $0.inOneLine + "\n" }.joined() }
}

extension RefusedRequest {
    /// One line for each reason.
    var explained: [String] {
        reasons.map { "refused   \(status.code): \($0)" }
    }

    private var reasons: [String] {
        switch self {
        case .invalid(let invalid):
            invalid.errors.map { fault in
                [fault.location.rawValue, fault.name, fault.reason.text].filter { !$0.isEmpty }
                    .joined(separator: " ")
            }
        case .tooLarge: ["body is larger than max_body"]
        case .malformed: ["body is malformed"]
        case .overloaded: ["too many requests are in flight"]
        }
    }
}
