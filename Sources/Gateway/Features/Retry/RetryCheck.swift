/// The rules for `retry` of a call. A retry sends a request again, which is safe only for idempotent methods
/// (RFC 9110 9.2.2).
extension ConfigCheck {
    mutating func checkRetry(of call: Config.Call, in endpoint: Config.Endpoint) {
        checkAttempts(of: call.retry)
        guard let retry = call.retry, !retry.isWithoutEffect else { return }
        if let method = call.request?.method.value, method == .post || method == .patch {
            problems.warning(
                at: retry.location,
                "call '\(call.name.value)' is a \(method.rawValue): it is retried only if nothing of it was"
                    + " sent")
        }
        let timeout = timeLimit(of: call, in: endpoint)
        // The shortest wait is half of the backoff.
        if let backoff = retry.backoff, backoff.value / 2 >= timeout.value,
            hasTimes(call, endpoint)
        {
            problems.warning(
                at: backoff.location,
                "no retry of call '\(call.name.value)' starts after the backoff"
                    + " \(backoff.quoted): the timeout of the call is \(timeout.quoted)")
        }
    }

    mutating func checkAttempts(of retry: Config.Call.Retry?) {
        guard let retry, retry.isWithoutEffect, let attempts = retry.attempts else { return }
        problems.warning(
            at: attempts.location,
            "'retry' has no effect: 'attempts' includes the first one")
    }
}
