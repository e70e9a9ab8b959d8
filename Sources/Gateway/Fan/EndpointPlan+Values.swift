package import Basics
package import HTTP
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
            let values = CallValues(
                head: head, input: try input(of: head, body),
                calls: hasReferences ? calls.count : 0, exchange: exchange, proxies: proxies)
            try checkSegments(values)
            return values
        } catch {
            throw .invalid(error)
        }
    }

    /// Parameters and body of a request, checked together.
    private func input(
        of head: RequestHead, _ body: Bytes?
    ) throws(InvalidRequest) -> RequestInput {
        var input = RequestInput(params: Params(), body: body ?? Bytes())
        var errors: [InvalidRequest.Fault] = []
        var work = PatternWork()
        do throws(InvalidRequest) {
            input.params = try Params(params, of: head, &work)
        } catch {
            errors = error.errors
        }
        if let queryNames { errors += head.target.unknownQuery(besides: queryNames) }
        do throws(InvalidRequest) {
            if let body { input.bodyValue = try self.body?.check(body, &work) }
        } catch {
            errors += error.errors
        }
        guard errors.isEmpty else { throw InvalidRequest(errors: errors) }
        return input
    }
}
