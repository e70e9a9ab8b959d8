/// `retry` of a call: sends the request again after a failure.
enum RetryFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(call: RetryKeys.call) }

    static func check(_ check: inout ConfigCheck) {
        check.forEachCall { call, endpoint, check in check.checkRetry(of: call, in: endpoint) }
    }

    static func notes(on call: CallPlan) -> [String] {
        call.retry.map { ["\($0.attempts) attempts at most"] } ?? []
    }
}
