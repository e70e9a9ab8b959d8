import Basics
import HTTP

/// The lines of `explain` about what applies to a request before its endpoint is known: the host,
/// the client's address, a CORS preflight, and the spelling of its path.
struct ExplainedEntry {
    private let plan: Plan
    private let head: RequestHead

    init(_ plan: Plan, _ head: RequestHead) {
        self.plan = plan
        self.head = head
    }

    /// The first response of a feature to the request, whatever its endpoint.
    private var response: ExplainedEntryResponse? {
        Features.all.lazy.compactMap { $0.entryResponse(to: head, of: plan) }.first
    }

    /// Whether the gateway responds to the request itself: it refuses the request, or it is a preflight.
    var lines: [String]? { response?.lines }

    /// Whether the request is accepted as far as these rules go.
    var isAccepted: Bool { response?.isAccepted ?? true }

    /// The rules that the request alone does not decide.
    func conditions(_ endpoint: EndpointPlan) -> [String] {
        var lines: [String] = []
        if let listen = ListenSummary(plan).text { lines.append("listen    \(listen)") }
        return lines + Features.all.flatMap { $0.conditions(endpoint, of: plan, head) }
    }
}

/// The gateway's own response to a request, before anything that an endpoint requires.
struct ExplainedEntryResponse {
    let lines: [String]
    let isAccepted: Bool

    static func refusal(
        _ reason: String, after lines: [String] = []
    ) -> ExplainedEntryResponse {
        ExplainedEntryResponse(lines: lines + ["refused   \(reason)"], isAccepted: false)
    }
}
