import Basics
import HTTP
import JSONText

// The elements of a list.
extension ListPlan {
    /// Throws why there is no list, or that it is too long.
    ///
    /// - Parameter left: receives how many elements are left out with `over: truncate`
    func elements(
        in values: CallValues, _ names: ValueNames, left: inout Int
    ) throws(CallFailure) -> [JSONSlice] {
        var elements: [JSONSlice]
        if case .requestQuery(let name) = reference.source {
            elements = values.head.target.values(ofQuery: name).map { JSONSlice(string: $0) }
        } else {
            guard let list = values.json(of: reference.source), list.kind == .array else {
                throw .skipped(names.reason(naming: reference))
            }
            elements = Array(list.elements)
        }
        guard elements.count > max else { return elements }
        guard truncates else { throw .tooManyElements }
        left = elements.count - max
        elements.removeLast(left)
        return elements
    }

    /// How many elements the client sent; nil for a list of a backend, and without a list.
    func countSent(in values: CallValues) -> Int? {
        switch reference.source {
        case .requestQuery(let name): values.head.target.values(ofQuery: name).count
        case .requestBody: values.json(of: reference.source).map { Array($0.elements).count }
        default: nil
        }
    }
}

extension EndpointPlan {
    /// Refuses a list of the client that is too long, before any call starts.
    func checkLists(_ values: CallValues) throws(InvalidRequest) {
        var faults: [InvalidRequest.Fault] = []
        for list in calls.compactMap(\.list) where !list.truncates {
            guard let count = list.countSent(in: values), count > list.max else { continue }
            let isInBody = if case .requestBody = list.reference.source { true } else { false }
            let prefix = isInBody ? "request.body." : "request.query."
            let fault = InvalidRequest.Fault(
                location: isInBody ? .body : .query,
                name: String(list.reference.name.dropFirst(prefix.count)),
                reason: .elements(list.max))
            if !faults.contains(fault) { faults.append(fault) }
        }
        guard faults.isEmpty else { throw InvalidRequest(errors: faults) }
    }
}

extension CallPlan {
    /// Why the element gets no request: its value would have no place in it.
    func obstacle(in element: JSONSlice) -> CallFailure? {
        guard case .elements(let keys) = placement else { return nil }
        var object = element
        for key in keys.dropLast() {
            guard object.kind == .object else { return .invalidShape }
            guard let inner = object.value(at: JSONPath(steps: [.key(Bytes(key))])), !inner.isNull
            else { return nil }
            object = inner
        }
        guard object.kind == .object else { return .invalidShape }
        guard failsOnCollision, let key = keys.last,
            object.value(at: JSONPath(steps: [.key(Bytes(key))])) != nil
        else { return nil }
        return .collision(key: key)
    }
}
