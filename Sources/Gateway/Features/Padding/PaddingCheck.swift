/// The rules for `min_duration` and `round_up_to` of an endpoint.
extension ConfigCheck {
    /// Warns of an endpoint whose padding has no effect, or hides less than it should.
    mutating func checkPadding(of endpoint: Config.Endpoint) {
        let padding = endpoint.padding
        refuse(
            "min_duration", at: padding.minimum?.location, withProxyOf: endpoint,
            "a streamed response cannot be delayed")
        refuse(
            "round_up_to", at: padding.step?.location, withProxyOf: endpoint,
            "a streamed response cannot be delayed")
        guard let minimum = padding.minimum else {
            if let step = padding.step, isRead("min_duration", of: endpoint.location) {
                problems.warning(
                    at: step.location, "'round_up_to' has no effect without 'min_duration'")
            }
            return
        }
        let deadline = config.deadline(of: endpoint)
        let isFixed = endpoint.calls.isEmpty && endpoint.respond != nil
        if deadline.value >= minimum.value, hasDeadline(endpoint), !isFixed {
            problems.warning(
                at: endpoint.location,
                "\(endpoint.title): 'deadline' (\(deadline.quoted)) permits responses slower than"
                    + " 'min_duration' (\(minimum.quoted)), which are distinguishable; lower it below 'min_duration'"
            )
        }
        if let timing = endpoint.serverTiming, timing.value {
            problems.error(
                at: timing.location,
                "'server_timing' would reveal the times that 'min_duration' hides; remove one of them"
            )
        }
    }
}
