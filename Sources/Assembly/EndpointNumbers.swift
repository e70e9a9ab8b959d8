import Gateway

/// Numbers the endpoints across reloads: an endpoint keeps its number, and so its counts, as long
/// as its route is the same.
struct EndpointNumbers {
    private(set) var names: [String] = []
    /// Whether the endpoint pads its responses, so that its durations must not be published.
    private(set) var isPadded: [Bool] = []

    /// The number of each endpoint of a plan, in the plan's order.
    mutating func numbers(of plan: Plan) -> [Int] {
        plan.endpointNames.enumerated().map { index, name in
            let isPadded = plan.isPadded(index)
            if let number = names.firstIndex(of: name) {
                self.isPadded[number] = isPadded
                return number
            }
            names.append(name)
            self.isPadded.append(isPadded)
            return names.count - 1
        }
    }
}
