package import Basics
import GatewayConfig
package import JSONText
package import Patterns

/// `body:` of an endpoint: the subset of JSON Schema that says what a client's body must be.
package struct BodyPlan {
    private let schema: BodySchema

    init(_ body: Config.Body) throws(PatternError) {
        schema = try BodySchema(body)
    }

    /// The body as JSON, if it is as it must be; throws everything that is wrong at once.
    ///
    /// - Parameter work: what the patterns of the request may still cost
    package func check(_ body: Bytes, _ work: inout PatternWork) throws(InvalidRequest) -> JSONSlice
    {
        guard let value = try? JSONSlice(validating: body) else {
            throw InvalidRequest(errors: [
                InvalidRequest.Fault(
                    location: .body, name: "", reason: body.isEmpty ? .required : .notJSON)
            ])
        }
        var check = BodyCheck(work: work)
        check.check(value, schema)
        work = check.work
        if !check.errors.isEmpty { throw InvalidRequest(errors: check.errors) }
        return value
    }
}

/// What one value of a body must be, and the values below it.
package struct BodySchema {
    /// nil takes every kind.
    let kind: JSONSlice.Kind?
    /// What is said of a value of another kind.
    let wrongKind: Reason
    /// For a value with a text of its own: string, number, boolean.
    let rule: ValueRule?
    /// Of an object, in file order; those that are only `required` stand at the end.
    let members: [Member]

    struct Member {
        let name: String
        let key: Bytes
        let isRequired: Bool
        let schema: BodySchema
    }
}
