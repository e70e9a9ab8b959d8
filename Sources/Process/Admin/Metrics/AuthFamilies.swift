import Gateway
import HTTP

// The decisions of the authenticators.
extension MetricsWriter {
    /// - Parameter workers: the decisions on each worker
    mutating func writeAuthentication(_ workers: [[AuthResults]]) {
        var sums: [AuthResults] = []
        for results in workers.joined() {
            if let index = sums.firstIndex(where: { $0.name == results.name }) {
                sums[index].add(results)
            } else {
                sums.append(results)
            }
        }
        guard !sums.isEmpty else { return }
        family(
            "tributary_auth_total", .counter,
            "Requests to protected endpoints, by authenticator and decision.")
        for results in sums {
            sample(
                MetricLabels("auth", results.name).adding("result", "accepted"), results.accepted)
            for reason in AuthResults.reasons {
                sample(
                    MetricLabels("auth", results.name).adding("result", "\(reason.name)"),
                    results[reason])
            }
        }
        let fetched = sums.filter { $0.keysAge != nil }
        guard !fetched.isEmpty else { return }
        family(
            "tributary_jwks_age_seconds", .gauge,
            "Time since the keys of the issuer were fetched, on the worker with the oldest ones.")
        for results in fetched {
            sample(MetricLabels("auth", results.name), Int(results.keysAge ?? 0))
        }
    }
}
