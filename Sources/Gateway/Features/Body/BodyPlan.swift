package import Basics
package import JSONText
package import Patterns

/// `body:` of an endpoint: the subset of JSON Schema that a client's body must satisfy.
package struct BodyPlan {
    private let schema: BodySchema

    init(_ body: Config.Body) throws(PatternError) {
        schema = try BodySchema(body)
    }

    /// The body as JSON, if it is valid; throws everything that is wrong at once.
    ///
    /// - Parameter work: the remaining work limit for the request's patterns
    package func check(_ body: Bytes, _ work: inout PatternWork) throws(InvalidRequest) -> JSONSlice
    {
        guard let value = try? JSONSlice(validating: body) else {
            throw InvalidRequest(errors: [
                InvalidRequest.Fault(
                    location: .body, name: "", reason: body.isEmpty ? .required : .notJSON)
            ])
        }
        var check = BodyValidation(work: work)
        check.check(value, schema)
        work = check.work
        if !check.errors.isEmpty { throw InvalidRequest(errors: check.errors) }
        return value
    }
}

/// The schema of one value of a body and of the values in it.
package struct BodySchema {
    /// Nil accepts every kind.
    let kind: JSONSlice.Kind?
    /// The reason that refuses a value of another kind.
    let wrongKind: Reason
    /// For a string, number or boolean.
    let rule: ValueRule?
    /// Of an object, in file order; members that are only `required` come last.
    let members: [Member]
    /// Whether other members are refused.
    let isClosed: Bool

    struct Member {
        let name: String
        let key: Bytes
        let isRequired: Bool
        let schema: BodySchema
    }
}
