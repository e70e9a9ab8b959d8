import HTTP
import HTTPClient

/// The parts that all operations share: problem responses, their schemas, and headers.
enum OpenAPIComponents {
    /// - Parameter securitySchemes: nil if no operation has credentials
    static func tree(securitySchemes: JSONTree?) -> JSONTree {
        var members: [(String, JSONTree)] = [
            ("responses", .object(responses)), ("headers", .object(headers)),
            ("schemas", .object(schemas)),
        ]
        if let securitySchemes { members.append(("securitySchemes", securitySchemes)) }
        return .object(members)
    }

    static func header(_ name: String) -> JSONTree {
        .object([("$ref", .text("#/components/headers/\(name)"))])
    }

    // MARK: Responses

    /// The meaning of a status that the gateway itself sends.
    static func description(of status: String) -> String {
        switch status {
        case "400": "The request is invalid; `errors` lists all reasons."
        case "401": "The request has no valid credential; `reason` says what is wrong."
        case "403": "The client or the caller is not accepted; `reason` says why."
        case "408": "The client does not send its body."
        case "415": "The media type of the body is not accepted."
        case "429": "Too many requests; retry later."
        case "421": "The request is for another host."
        case "413": "The body is too large."
        case "502": "A required call failed, or all calls did."
        case "503": "Too many requests, or a backend is unavailable; retry later."
        case "504": "A required call timed out, or all calls did."
        default: "An error, as a problem document (RFC 9457)."
        }
    }

    private static var responses: [(String, JSONTree)] {
        let named = statuses.map { ("Status\($0)", response($0)) }
        return named + [("Problem", response("default"))]
    }

    /// Those with a response of their own among the components.
    static let statuses = ["400", "413", "429", "502", "503", "504"]

    static let quotaHeaders = ["RateLimit-Policy", "RateLimit"]

    private static func response(_ status: String) -> JSONTree {
        var names = ["X-Request-Id"]
        if ["429", "503"].contains(status) { names.append("Retry-After") }
        if status == "429" { names += quotaHeaders }
        return .object([
            ("description", .text(description(of: status))),
            ("headers", .object(names.map { ($0, header($0)) })),
            (
                "content",
                .object([
                    ("application/problem+json", .object([("schema", reference("Problem"))]))
                ])
            ),
        ])
    }

    // MARK: Headers

    private static var headers: [(String, JSONTree)] {
        func text(_ name: String, _ description: String, isRequired: Bool) -> (String, JSONTree) {
            (
                name,
                .object([
                    ("description", .text(description)), ("required", .raw("\(isRequired)")),
                    ("schema", .object([("type", .text("string"))])),
                ])
            )
        }
        return [
            text("X-Request-Id", "Identifies the request in logs.", isRequired: true),
            text("Gateway-Complete", "`true` if every call succeeded.", isRequired: true),
            text("Gateway-Failures", "The calls that failed (RFC 9651).", isRequired: false),
            text("Server-Timing", "The duration of each call.", isRequired: false),
            text("Retry-After", "Seconds to wait before the request is retried.", isRequired: true),
            text(
                "RateLimit-Policy", "The rate limits (draft-ietf-httpapi-ratelimit-headers).",
                isRequired: false),
            text("RateLimit", "What is left of the rate limits.", isRequired: false),
        ]
    }

    // MARK: Schemas

    private static var schemas: [(String, JSONTree)] {
        [("Problem", problem), ("Fault", fault), ("Failure", failure), ("Report", report)]
    }

    private static func reference(_ name: String) -> JSONTree {
        .object([("$ref", .text("#/components/schemas/\(name)"))])
    }

    private static func type(_ name: String) -> JSONTree { .object([("type", .text(name))]) }

    private static func list(of name: String) -> JSONTree {
        .object([("type", .text("array")), ("items", reference(name))])
    }

    private static func object(
        required: [String], _ properties: [(String, JSONTree)]
    ) -> JSONTree {
        .object([
            ("type", .text("object")), ("required", .texts(required)),
            ("properties", .object(properties)), ("additionalProperties", .raw("false")),
        ])
    }

    /// RFC 9457.
    private static let problem = object(
        required: ["type", "title", "status", "instance"],
        [
            ("type", type("string")), ("title", type("string")), ("status", type("integer")),
            ("instance", type("string")),
            ("reason", .object([("enum", .texts(RefusalReason.allCases.map { "\($0.name)" }))])),
            ("violated-policies", .object([("type", .text("array")), ("items", type("string"))])),
            ("errors", list(of: "Fault")),
            ("failures", list(of: "Failure")),
        ])

    private static let fault = object(
        required: ["in", "name", "reason"],
        [
            ("in", .object([("enum", .texts(locations))])), ("name", type("string")),
            ("reason", type("string")),
        ])

    private static let locations = ["path", "query", "header", "body"]

    private static let failure = object(
        required: ["kind"],
        [
            ("call", type("string")),
            ("kind", .object([("enum", .texts(CallFailure.Kind.allCases.map(\.facts.name)))])),
            ("status", type("integer")), ("limit_ms", type("integer")),
            ("because", type("string")), ("key", type("string")), ("count", type("integer")),
            ("first", .object([("type", .text("array")), ("items", type("integer"))])),
            ("host", type("string")),
            ("detail", type("string")),
        ])

    private static let report = object(
        required: ["complete", "failures"],
        [("complete", type("boolean")), ("failures", list(of: "Failure"))])
}
