import JSONText

/// Puts the values of one list in the elements of a response.
struct ListFill {
    let call: CallPlan
    let values: [ListValue]
    /// The last key of the place, for reports.
    let key: String
    private let path: [JSONName]
    /// Whether a value was dropped because its element has the member.
    private(set) var isTaken = false
    /// The elements whose values cannot be placed, ascending.
    private(set) var misplaced: [(element: Int, failure: CallFailure)] = []

    /// Nil for a call whose values have no place in elements, or that had no list.
    init?(_ call: CallPlan, _ state: FanOutState) {
        guard case .elements(let keys) = call.placement, let values = state.list(of: call) else {
            return nil
        }
        self.call = call
        self.values = values
        key = keys.last ?? ""
        path = keys.map { JSONName($0) }
    }

    /// Where the list is in the response of its call; nil for the whole response.
    var listPath: JSONPath? { call.list?.path }

    /// Adds the value of an element; false, and changes nothing, if it has none.
    mutating func add(to draft: inout JSONDraft, ofElement index: Int) -> Bool {
        guard index < values.count, let value = values[index].value else { return false }
        // A fallback hides nothing.
        guard values[index].isPart else {
            if value.isNull {
                draft.addPlaceholder(at: path)
            } else {
                _ = draft.add(value, at: path)
            }
            return true
        }
        switch draft.add(value, at: path) {
        case .added: break
        case .exists where call.failsOnCollision:
            misplaced.append((index, .collision(key: key)))
        case .exists: isTaken = true
        case .invalidShape: misplaced.append((index, .invalidShape))
        }
        return true
    }
}
