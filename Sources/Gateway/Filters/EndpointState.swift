import Basics

/// What an endpoint counts: one object for each route and worker, which a reload passes on to the
/// endpoint of the new plan with the same route.
final class EndpointState {
    /// Of `max_in_flight`.
    let inFlight = Permits()
}
