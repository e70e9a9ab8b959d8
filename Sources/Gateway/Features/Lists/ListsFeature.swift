/// `each` of a call: one request for each element of a list.
enum ListsFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(call: ListsKeys.call) }

    static func check(_ check: inout ConfigCheck) {
        check.forEachCall { call, endpoint, check in check.checkEach(of: call, in: endpoint) }
    }

    static func notes(on call: CallPlan) -> [String] {
        guard let list = call.list else { return [] }
        let batches = list.batch.map { " in batches of \($0.size)" } ?? ""
        return [
            "for each element of \(list.listName), at most \(list.max)\(batches), \(list.parallel) at once"
        ]
    }
}
