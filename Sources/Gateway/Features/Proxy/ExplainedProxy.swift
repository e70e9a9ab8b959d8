import Basics
import HTTP

/// The lines of `explain` about a request that is passed through: its target at the backend, its
/// headers and its limits.
struct ExplainedProxy {
    private let plan: ProxyPlan
    private let endpoint: EndpointPlan
    private let backend: BackendPlan
    private let head: RequestHead

    init(
        _ plan: ProxyPlan, of endpoint: EndpointPlan, _ backend: BackendPlan, _ head: RequestHead
    ) {
        self.plan = plan
        self.endpoint = endpoint
        self.backend = backend
        self.head = head
    }

    var lines: [String] {
        guard (try? endpoint.values(of: head, body: nil)) != nil else {
            return ["refused   400: a parameter is not valid"]
        }
        guard let target = plan.path.target(of: head.target, plan.forward?.query) else {
            return ["refused   400: servers read this path in different ways"]
        }
        let host = backend.hosts.first?.shownURL ?? ""
        return [
            "proxy     \(head.method) \(host)\(plan.path.shownTarget(String(target.text)))"
                + " (\(version))",
            "limits    \(plan.limits)",
            "headers   \(headers)",
        ] + rewrite + [
            "if        \(backend.name) fails before its head -> 502 / 504 / 503",
            "          it fails later -> the connection is closed",
        ]
    }

    private var version: String { backend.http2Text ?? "HTTP/1.1" }

    private var headers: String {
        var texts = [passed]
        let set =
            plan.headers.map { "\($0.name)" } + plan.forwarded.map { "\($0)" }
            + (plan.sendsClientCert ? ["Client-Cert of a verified client"] : []) + ["Via"]
        texts.append("sets \(set.joined(separator: ", "))")
        return texts.joined(separator: "; ")
    }

    private var rewrite: [String] {
        plan.rewrite.map { ["rewrite   \($0)"] } ?? []
    }

    private var passed: String {
        guard let forward = plan.forward else { return "all of the client" }
        // Of any client: forwarding headers pass from trusted proxies only.
        let names = forward.headers.map { "\($0)" }.filter { !HeaderSyntax.isForwarding($0) }
        return "of the client only \((names + ["Content-*"]).joined(separator: ", "))"
    }
}

extension ProxyPlan {
    /// `timeout 30s, idle 5m, body unlimited`
    var limits: String {
        var texts = ["timeout \(timeout.spelled)", "idle \(idleTimeout.spelled)"]
        if let maxDuration { texts.append("at most \(maxDuration.spelled)") }
        texts.append(bodyMax.map { "body \(Quantity.spelled(bytes: $0))" } ?? "body unlimited")
        if !upgrades.isEmpty {
            texts.append("upgrade \(upgrades.map { "\($0)" }.joined(separator: ", "))")
        }
        return texts.joined(separator: ", ")
    }
}
