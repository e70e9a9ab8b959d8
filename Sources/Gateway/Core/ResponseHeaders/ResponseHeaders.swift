package import HTTP

/// The header lines of every response to requests of one endpoint, or of no endpoint: security
/// headers, fixed headers, and the headers of `cors`.
///
/// All sets are encoded when the plan is made; a request only chooses one, which the server writes
/// behind the lines of whatever response it gets, so that errors have them, too.
package final class ResponseHeaders {
    /// Without the headers of `cors`.
    package let fixed: Fields
    package let cors: CORSRules?
    /// For requests without an origin, or with one that is not allowed.
    private let withoutOrigin: Fields
    /// By the index of the rules' exact origins.
    private let byOrigin: [Fields]

    package init(fixed: Fields, cors: CORSRules?) {
        self.fixed = fixed
        self.cors = cors
        guard let cors else {
            withoutOrigin = fixed
            byOrigin = []
            return
        }
        var shared = fixed
        if cors.allowsAny {
            shared.append(.allowOrigin, "*")
            shared.append(cors.grant)
        } else {
            // Also without an origin: a cache must not give that response to a page.
            shared.append(.vary, "Origin")
        }
        withoutOrigin = shared
        byOrigin = cors.origins.map { origin in
            Self.fields(shared, granting: FieldValue(origin), cors)
        }
    }

    private static func fields(
        _ shared: Fields, granting origin: FieldValue?, _ cors: CORSRules
    ) -> Fields {
        var fields = shared
        if let origin { fields.append(.allowOrigin, origin) }
        fields.append(cors.grant)
        return fields
    }

    /// The lines of a response to this request.
    package func fields(for head: RequestHead) -> Fields {
        guard let cors, !cors.allowsAny, let origin = head.fields[.origin] else {
            return withoutOrigin
        }
        for index in cors.origins.indices where cors.origins[index] == origin.bytes {
            return byOrigin[index]
        }
        guard cors.isSubdomain(origin.bytes) else { return withoutOrigin }
        return Self.fields(withoutOrigin, granting: origin, cors)
    }
}
