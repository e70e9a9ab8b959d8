/// The rules for `hedge` of a call. A hedge sends a request again, which is safe only for idempotent methods
/// (RFC 9110 9.2.2).
extension ConfigCheck {
    mutating func checkHedge(of call: Config.Call, in endpoint: Config.Endpoint) {
        guard let hedge = call.hedge else { return }
        let name = call.name.value
        if let method = call.request?.method.value, method == .post || method == .patch {
            problems.error(
                at: hedge.location,
                "call '\(name)' is a \(method.rawValue), which must not be sent twice;"
                    + " 'hedge' is for get, head, put and delete")
        }
        if let from = call.from?.value, let backend = backend(named: from),
            backend.maxConcurrent == nil, isRead("max_concurrent", of: backend.location)
        {
            problems.warning(
                at: hedge.location,
                "call '\(name)' is hedged, but backend '\(backend.name.value)' has no 'max_concurrent':"
                    + " when it is slow, it receives up to twice as many calls")
        }
        let timeout = timeLimit(of: call, in: endpoint)
        if let after = hedge.after, after.value >= timeout.value, hasTimes(call, endpoint) {
            problems.warning(
                at: after.location,
                "the hedge of call '\(name)' never starts: the timeout of the call is"
                    + " \(timeout.quoted)")
        }
    }
}
