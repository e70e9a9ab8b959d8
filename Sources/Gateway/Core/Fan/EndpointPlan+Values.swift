package import Basics
package import HTTP
import JSONText
import Patterns

// Parses and validates a request, for the gateway and for `explain`.
extension EndpointPlan {
    /// The values of a request for its calls. Throws everything that is wrong with it, at once.
    ///
    /// - Parameters:
    ///   - body: nil where it is not known, and therefore not checked
    ///   - context: for the client's address; nil where nothing is sent
    package func values(
        of head: RequestHead, body: Bytes?, context: RequestContext? = nil
    ) throws(RefusedRequest) -> CallValues {
        try values(of: head, body: body) { params, checkedBody in
            CallValues(
                head: head, params: params, body: body ?? Bytes(), checkedBody: checkedBody,
                calls: storedParts, context: context, proxies: proxies)
        }
    }

    /// The same for `explain`, with the values that only a real request has.
    ///
    /// - Parameter body: nil where it is not known; it then counts as valid
    package func assumedValues(
        of head: RequestHead, body: Bytes?, context: RequestContext?
    ) throws(RefusedRequest) -> AssumedValues {
        try values(of: head, body: body) { params, checkedBody in
            AssumedValues(
                head: head, params: params, body: body, checkedBody: checkedBody,
                calls: storedParts, context: context, proxies: proxies)
        }
    }

    /// - Parameter make: makes the values from the valid parameters, and the valid body where the
    ///   endpoint declares it
    func values<Values: CallValues>(
        of head: RequestHead, body: Bytes?, _ make: (consuming Params, JSONSlice?) -> Values
    ) throws(RefusedRequest) -> Values {
        if let body, body.count > bodyMax { throw .tooLarge }
        do throws(InvalidRequest) {
            let (params, checkedBody) = try checkedParts(head, body)
            let values = make(params, checkedBody)
            try checkSegments(values)
            return values
        } catch {
            throw .invalid(error)
        }
    }

    /// Parameters and body of a request, checked together.
    private func checkedParts(
        _ head: RequestHead, _ body: Bytes?
    ) throws(InvalidRequest) -> (Params, JSONSlice?) {
        var errors: [InvalidRequest.Fault] = []
        var work = PatternWork()
        let params = Params(params, of: head, &work, &errors)
        if let queryNames { errors += head.target.unknownQuery(besides: queryNames) }
        var checkedBody: JSONSlice?
        do throws(InvalidRequest) {
            if let body { checkedBody = try self.body?.check(body, &work) }
        } catch {
            errors += error.errors
        }
        // Within objects that the schema does not know, names may still occur twice.
        if errors.isEmpty, !bodyPaths.isEmpty, let body, !body.isEmpty {
            if checkedBody == nil { checkedBody = try? JSONSlice(validating: body) }
            if let checkedBody { errors = repeatedNames(in: checkedBody) }
        }
        guard errors.isEmpty else { throw InvalidRequest(errors: errors) }
        return (params, checkedBody)
    }

    /// A fault for each name that a reference or a limit reads, and that its object has several times.
    private func repeatedNames(in body: JSONSlice) -> [InvalidRequest.Fault] {
        var faults: [InvalidRequest.Fault] = []
        for path in bodyPaths {
            guard let count = body.repeatedName(on: path) else { continue }
            let fault = InvalidRequest.Fault(
                location: .body, name: path.name(ofFirst: count), reason: .repeated)
            if !faults.contains(fault) { faults.append(fault) }
        }
        return faults
    }
}

extension JSONPath {
    /// `address.city`, as far as the first steps go.
    fileprivate func name(ofFirst count: Int) -> String {
        steps.prefix(count).reduce(into: "") { name, step in
            switch step {
            case .key(let key): name += (name.isEmpty ? "" : ".") + String(key)
            case .element(let index): name += "[\(index)]"
            case .everyElement: name += "[]"
            }
        }
    }
}
