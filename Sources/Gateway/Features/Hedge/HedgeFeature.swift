/// `hedge` of a call: sends a second request if the response is late.
enum HedgeFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(call: HedgeKeys.call) }

    static func check(_ check: inout ConfigCheck) {
        check.forEachCall { call, endpoint, check in check.checkHedge(of: call, in: endpoint) }
    }

    static func notes(on call: CallPlan) -> [String] {
        call.hedgeAfter.map { ["second try at \($0.spelled)"] } ?? []
    }
}
