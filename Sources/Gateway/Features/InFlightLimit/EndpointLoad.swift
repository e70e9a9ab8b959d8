import Basics

/// The load of an endpoint on one worker, and what it is compared with.
package struct EndpointLoad: Sendable {
    package let name: String
    /// Nil with `min_duration`, whose responses are held back, and with `proxy`, which has no deadline.
    package let deadline: Duration?
    /// Requests that hold a permit of `max_in_flight`.
    package let inFlight: Int
    /// The worker's share; nil without `max_in_flight`.
    package let inFlightMax: Int?
    /// Requests that `max_in_flight` refused.
    package let refusals: Int

    package init(
        name: String, deadline: Duration?, inFlight: Int = 0, inFlightMax: Int? = nil,
        refusals: Int = 0
    ) {
        self.name = name
        self.deadline = deadline
        self.inFlight = inFlight
        self.inFlightMax = inFlightMax
        self.refusals = refusals
    }

    /// Only the counters and the settings, without the values that held at one moment.
    package var countersOnly: EndpointLoad {
        EndpointLoad(name: name, deadline: deadline, refusals: refusals)
    }
}

extension EndpointLoad {
    init(_ plan: EndpointPlan, _ state: EndpointState) {
        self.init(
            name: plan.name,
            deadline: plan.padding == nil && plan.proxy == nil ? plan.deadline : nil,
            inFlight: state.inFlight.inUse, inFlightMax: plan.inFlightMax, refusals: state.refusals)
    }
}
