import YAMLReader

extension PaddingKeys {
    /// Warns of an endpoint whose padding has no effect, or hides less than it should.
    static func check(_ endpoint: Config.Endpoint, _ check: inout ConfigCheck) {
        let padding = endpoint.padding
        check.refuse(
            "min_duration", at: padding.minimum?.location, withProxyOf: endpoint,
            "a streamed response cannot be delayed")
        check.refuse(
            "round_up_to", at: padding.step?.location, withProxyOf: endpoint,
            "a streamed response cannot be delayed")
        guard let minimum = padding.minimum else {
            if let step = padding.step, check.isRead("min_duration", of: endpoint.location) {
                check.problems.warning(
                    at: step.location, "'round_up_to' has no effect without 'min_duration'")
            }
            return
        }
        let deadline = check.config.deadline(of: endpoint)
        if deadline.value >= minimum.value, check.hasDeadline(endpoint) {
            check.problems.warning(
                at: endpoint.location,
                "\(endpoint.title): 'deadline' (\(deadline.quoted)) permits responses slower than"
                    + " 'min_duration' (\(minimum.quoted)), which are distinguishable; lower it below 'min_duration'"
            )
        }
        if let timing = endpoint.serverTiming, timing.value {
            check.problems.error(
                at: timing.location,
                "'server_timing' would reveal the times that 'min_duration' hides; remove one of them"
            )
        }
    }
}
