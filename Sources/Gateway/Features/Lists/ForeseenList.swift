import JSONText

/// The list of a client's request, and its requests, for `explain`.
struct ForeseenList {
    let elements: Int
    /// How many were left out because of `max`.
    let truncated: Int
    let requests: Int
    /// How many elements have no request.
    let skipped: Int
    /// The values of the first request; nil without one.
    let first: CallValues?
    /// The failure of the call, if too few elements have a request.
    let failure: CallFailure?

    /// Throws why there is no list.
    init(
        _ list: ListPlan, of call: CallPlan, _ kind: any CallKind, _ names: ValueNames,
        _ values: CallValues
    ) throws(CallFailure) {
        var left = 0
        let elements = try list.elements(in: values, names, left: &left)
        let all = ListRequests(for: elements, of: call, list, kind, names, values)
        self.elements = elements.count
        truncated = left
        requests = all.shared.count
        skipped = all.failures.count
        first = all.shared.isEmpty ? nil : all.values(of: 0)
        let needed = list.needed(of: elements.count, isRequired: call.isRequired)
        failure =
            elements.count - all.failures.count < needed
            ? all.failures.min { $0.element < $1.element }.map { list.failure($0.failure) } : nil
    }

    /// `first of 3 requests for 4 elements`
    var text: String {
        let count = requests == 1 ? "1 request" : "first of \(requests) requests"
        var text = "\(count) for \(elements) \(elements == 1 ? "element" : "elements")"
        if skipped > 0 { text += ", \(skipped) skipped" }
        if truncated > 0 { text += ", \(truncated) left out" }
        return text
    }
}
