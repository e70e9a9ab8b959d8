import Basics
import JSONText

/// `body:` of an endpoint: the subset of JSON Schema that says what a client's body must be.
struct BodyPlan {
    private let schema: BodySchema

    init(_ body: Config.Body) throws(PlanError) {
        schema = try BodySchema(body)
    }

    /// Everything that is wrong with a body; a missing or malformed one is one error.
    func errors(in body: Bytes) -> [RequestError] {
        guard let value = try? JSONSlice(validating: body) else {
            let reason: Reason = body.isEmpty ? .required : .notJSON
            return [RequestError(location: .body, name: "", reason: reason)]
        }
        var check = BodyCheck()
        check.check(value, schema)
        return check.errors
    }
}

/// What one value of a body must be, and the values below it.
struct BodySchema {
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
