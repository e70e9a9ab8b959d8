/// The keys that a block inherits from another block, with the location of the value in force.
///
/// A value that is not written comes from `PlanDefaults`, with the location of the inheriting
/// block.
extension Config {
    // MARK: An endpoint inherits from `defaults`

    /// `max_body`, which also limits each response to its calls.
    package func bodyMax(of endpoint: Endpoint) -> Located<Int> {
        endpoint.maxBody ?? defaults?.maxBody
            ?? Located(PlanDefaults.bodyMax, at: endpoint.location)
    }

    package func report(of endpoint: Endpoint) -> Located<Endpoint.Report> {
        endpoint.report ?? defaults?.report ?? Located(PlanDefaults.report, at: endpoint.location)
    }

    package func expose(of endpoint: Endpoint) -> Located<Endpoint.Expose> {
        endpoint.expose ?? defaults?.expose ?? Located(PlanDefaults.expose, at: endpoint.location)
    }

    package func partialStatus(of endpoint: Endpoint) -> Located<Int> {
        endpoint.partialStatus ?? defaults?.partialStatus
            ?? Located(PlanDefaults.partialStatus, at: endpoint.location)
    }

    // MARK: A call inherits from its endpoint, which inherits from `defaults`

    /// The list of a call replaces the list of its endpoint.
    package func forward(of call: Call, in endpoint: Endpoint) -> Forward? {
        call.forward ?? endpoint.forward
    }

    /// The headers of a call, behind the headers of its endpoint that the call does not replace.
    package func headers(of call: Call, in endpoint: Endpoint) -> [Call.HeaderTemplate] {
        endpoint.headers(inheritedBy: call) + call.headers
    }

    // MARK: A proxy inherits from its endpoint

    // MARK: A call inherits from its backend

    /// - Parameter backend: the backend of the call, if it exists
    package func forwarded(of call: Call, to backend: Backend?) -> Located<Forwarded> {
        call.forwarded ?? backend?.forwarded ?? Located(PlanDefaults.forwarded, at: call.location)
    }

    // MARK: A backend inherits from `defaults`

    package func connectTimeout(of backend: Backend) -> Located<Duration> {
        backend.connectTimeout ?? defaults?.connectTimeout
            ?? Located(PlanDefaults.connectTimeout, at: backend.location)
    }
}

extension Config.Endpoint {
    /// The headers that a call has from its endpoint.
    func headers(inheritedBy call: Config.Call) -> [Config.Call.HeaderTemplate] {
        let own = call.headers.map { $0.name.value.lowercased() }
        return headers.filter { !own.contains($0.name.value.lowercased()) }
    }
}
