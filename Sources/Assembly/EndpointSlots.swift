import Gateway

/// Numbers the endpoints across reloads: an endpoint keeps its number, and so its counts, as long
/// as its route is the same.
struct EndpointSlots {
    private(set) var names: [String] = []
    /// Whether the endpoint pads its responses, so that its durations must not be published.
    private(set) var isPadded: [Bool] = []

    /// The number of each endpoint of a plan, in the plan's order.
    mutating func slots(of plan: Plan) -> [Int] {
        plan.endpointNames.enumerated().map { index, name in
            let isPadded = plan.isPadded(index)
            if let slot = names.firstIndex(of: name) {
                self.isPadded[slot] = isPadded
                return slot
            }
            names.append(name)
            self.isPadded.append(isPadded)
            return names.count - 1
        }
    }
}
