/// The keys that a block inherits from another one: what holds, and where it is written if it is.
///
/// A value that is written nowhere is the one of `PlanDefaults`, placed at the block that inherits.
extension Config {
    // MARK: An endpoint inherits from `defaults`

    package func deadline(of endpoint: Endpoint) -> Located<Duration> {
        endpoint.deadline ?? defaults?.deadline
            ?? Located(PlanDefaults.deadline, at: endpoint.location)
    }

    /// `max_body`, which also limits each answer of its calls.
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

    package func timeout(of call: Call, in endpoint: Endpoint) -> Located<Duration> {
        call.timeout ?? endpoint.timeout ?? defaults?.timeout
            ?? Located(PlanDefaults.timeout, at: call.location)
    }

    /// The list of a call replaces that of its endpoint.
    package func forward(of call: Call, in endpoint: Endpoint) -> Forward? {
        call.forward ?? endpoint.forward
    }

    // MARK: A call inherits from its backend

    /// - Parameter backend: that of the call, if there is one of that name
    package func forwarded(of call: Call, to backend: Backend?) -> Located<Forwarded> {
        call.forwarded ?? backend?.forwarded ?? Located(PlanDefaults.forwarded, at: call.location)
    }

    // MARK: A backend inherits from `defaults`

    package func connectTimeout(of backend: Backend) -> Located<Duration> {
        backend.connectTimeout ?? defaults?.connectTimeout
            ?? Located(PlanDefaults.connectTimeout, at: backend.location)
    }
}
