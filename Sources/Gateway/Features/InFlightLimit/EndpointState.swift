import Basics

/// The counts of an endpoint: one object for each route and worker, which a reload passes on to the
/// new plan's endpoint with the same route.
final class EndpointState {
    /// The permits of `max_in_flight`.
    let inFlight = Permits()
    /// Requests that `max_in_flight` refused.
    var refusals = 0
}
