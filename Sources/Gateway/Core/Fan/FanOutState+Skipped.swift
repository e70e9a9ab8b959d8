extension FanOutState {
    /// Records that the calls which wait for failed ones are not made.
    ///
    /// - Parameter calls: all of the endpoint, each after the calls that it waits for
    func recordSkipped(_ calls: [CallPlan]) {
        for call in calls where !hasSettled(call.index) {
            guard let failed = call.needs.first(where: hasFailed),
                call.conditionCalls.allSatisfy(hasSettled), call.condition?.holds(in: self) ?? true
            else { continue }
            _ = recordFailure(
                CallFailure.skipped(.call(endpoint.plan.calls[failed].name)), of: call)
        }
    }
}
