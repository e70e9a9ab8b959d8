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
    ///   - exchange: for the client's address; nil where nothing is sent
    package func values(
        of head: RequestHead, body: Bytes?, exchange: Exchange? = nil
    ) throws(RefusedRequest) -> CallValues {
        if let body, body.count > bodyMax { throw .tooLarge }
        do throws(InvalidRequest) {
            let values = try checkedValues(of: head, body, exchange)
            try checkSegments(values)
            return values
        } catch {
            throw .invalid(error)
        }
    }

    /// Parameters and body of a request, checked together.
    private func checkedValues(
        of head: RequestHead, _ body: Bytes?, _ exchange: Exchange?
    ) throws(InvalidRequest) -> CallValues {
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
        guard errors.isEmpty else { throw InvalidRequest(errors: errors) }
        return CallValues(
            head: head, params: params, body: body ?? Bytes(), checkedBody: checkedBody,
            calls: hasReferences ? calls.count : 0, exchange: exchange, proxies: proxies)
    }
}
