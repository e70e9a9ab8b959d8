/// The keys that a block inherits from another one: what holds, and where it is written if it is.
///
/// A value that is written nowhere is the one of `PlanDefaults`, placed at the block that inherits.
extension Config {
    // MARK: An endpoint inherits from `defaults`

    package func deadline(of endpoint: Endpoint) -> Placed<Duration> {
        endpoint.deadline ?? defaults?.deadline
            ?? Placed(PlanDefaults.deadline, at: endpoint.place)
    }

    /// `max_body`, which also limits each answer of its calls.
    package func bodyMax(of endpoint: Endpoint) -> Placed<Int> {
        endpoint.maxBody ?? defaults?.maxBody ?? Placed(PlanDefaults.bodyMax, at: endpoint.place)
    }

    package func report(of endpoint: Endpoint) -> Placed<Endpoint.Report> {
        endpoint.report ?? defaults?.report ?? Placed(PlanDefaults.report, at: endpoint.place)
    }

    package func expose(of endpoint: Endpoint) -> Placed<Endpoint.Expose> {
        endpoint.expose ?? defaults?.expose ?? Placed(PlanDefaults.expose, at: endpoint.place)
    }

    package func partialStatus(of endpoint: Endpoint) -> Placed<Int> {
        endpoint.partialStatus ?? defaults?.partialStatus
            ?? Placed(PlanDefaults.partialStatus, at: endpoint.place)
    }

    // MARK: A call inherits from its endpoint, which inherits from `defaults`

    package func timeout(of call: Call, in endpoint: Endpoint) -> Placed<Duration> {
        call.timeout ?? endpoint.timeout ?? defaults?.timeout
            ?? Placed(PlanDefaults.timeout, at: call.place)
    }

    /// The list of a call replaces that of its endpoint.
    package func forward(of call: Call, in endpoint: Endpoint) -> Forward? {
        call.forward ?? endpoint.forward
    }

    // MARK: A call inherits from its backend

    /// - Parameter backend: that of the call, if there is one of that name
    package func forwarded(of call: Call, to backend: Backend?) -> Placed<Forwarded> {
        call.forwarded ?? backend?.forwarded ?? Placed(PlanDefaults.forwarded, at: call.place)
    }

    // MARK: A backend inherits from `defaults`

    package func connectTimeout(of backend: Backend) -> Placed<Duration> {
        backend.connectTimeout ?? defaults?.connectTimeout
            ?? Placed(PlanDefaults.connectTimeout, at: backend.place)
    }
}
