/// The rules for time limits.
extension ConfigCheck {
    mutating func checkDurations(of endpoint: Config.Endpoint) {
        refuse(
            "deadline", at: endpoint.deadline?.location, withProxyOf: endpoint,
            "use 'timeout' of 'proxy'")
        refuse(
            "timeout", at: endpoint.timeout?.location, withProxyOf: endpoint,
            "use 'timeout' of 'proxy'")
        for call in endpoint.calls { checkTimes(of: call, in: endpoint) }
        let deadline = config.deadline(of: endpoint)
        if let timeout = endpoint.timeout, timeout.value > deadline.value, hasDeadline(endpoint) {
            problems.warning(
                at: timeout.location,
                "timeout \(timeout.quoted) is longer than the deadline"
                    + " \(deadline.quoted); it can never be used")
        }
    }

    private mutating func checkTimes(of call: Config.Call, in endpoint: Config.Endpoint) {
        let deadline = config.deadline(of: endpoint)
        if let timeout = call.timeout, timeout.value > deadline.value, hasDeadline(endpoint) {
            problems.warning(
                at: timeout.location,
                "timeout \(timeout.quoted) of call '\(call.name.value)' is longer than the"
                    + " deadline \(deadline.quoted); it can never be used")
        }
    }

    /// Whether the time limits of a call were read, if they are written.
    func hasTimes(_ call: Config.Call, _ endpoint: Config.Endpoint) -> Bool {
        [call.location, endpoint.location, config.defaults?.location].allSatisfy {
            isRead("timeout", of: $0)
        } && hasDeadline(endpoint)
    }

    /// The time that a call has: its timeout, or the deadline if that is shorter.
    func timeLimit(of call: Config.Call, in endpoint: Config.Endpoint) -> Located<Duration> {
        let (timeout, deadline) = (
            config.timeout(of: call, in: endpoint), config.deadline(of: endpoint)
        )
        return timeout.value <= deadline.value ? timeout : deadline
    }
}
