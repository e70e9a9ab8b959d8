package import Basics
package import HTTP

/// `cors`: which web pages may read responses, as header lines that are encoded once (the CORS
/// protocol of the Fetch standard).
///
/// Endpoints that inherit the block of `defaults` share one object: the methods of a path that have
/// the same rules are those with the same object.
package final class CORSRules {
    /// Any origin; then the responses do not depend on it.
    package let allowsAny: Bool
    /// The exact origins.
    let origins: [Bytes]
    /// One label between the two texts.
    private let subdomains: [(prefix: Bytes, suffix: Bytes)]
    /// Lines of a response for an allowed origin, except the origin itself.
    let grant: Fields
    /// The same for the response to a preflight, without the methods.
    let preflightGrant: Fields
    /// `https://shop.example.com, with credentials`
    package let text: String

    package init(_ cors: Config.CORS) {
        let all = cors.origins.map(\.value)
        allowsAny = all.contains(.any)
        origins = all.compactMap { if case .exact(let text) = $0 { Bytes(text) } else { nil } }
        subdomains = all.compactMap {
            if case .subdomain(let prefix, let suffix) = $0 {
                (Bytes(prefix), Bytes(suffix))
            } else {
                nil
            }
        }
        let hasCredentials = cors.credentials?.value ?? false
        grant = Self.grant(cors, hasCredentials)
        preflightGrant = Self.preflightGrant(cors, hasCredentials)
        text =
            cors.origins.map { $0.written ?? $0.value.text }.joined(separator: ", ")
            + (hasCredentials ? ", with credentials" : "")
    }

    private static func grant(_ cors: Config.CORS, _ hasCredentials: Bool) -> Fields {
        var fields = Fields()
        if hasCredentials { fields.append(.allowCredentials, "true") }
        let names = exposed + cors.expose.map(\.value)
        if let value = FieldValue(names.joined(separator: ", ")) {
            fields.append(.exposeHeaders, value)
        }
        return fields
    }

    private static func preflightGrant(_ cors: Config.CORS, _ hasCredentials: Bool) -> Fields {
        var fields = Fields()
        if hasCredentials { fields.append(.allowCredentials, "true") }
        let names = cors.headers.map(\.value)
        if !names.isEmpty, let value = FieldValue(names.joined(separator: ", ")) {
            fields.append(.allowHeaders, value)
        }
        let age = (cors.maxAge?.value ?? PlanDefaults.corsMaxAge).components.seconds
        fields.append(.maxAge, FieldValue(UInt64(max(0, age))))
        return fields
    }

    /// Headers of the gateway that pages need to handle its responses.
    private static let exposed = [
        "X-Request-Id", "Gateway-Complete", "Gateway-Failures", "Retry-After", "RateLimit",
    ]

    /// Whether pages of this origin may read responses. Origins are compared byte for byte, as
    /// browsers serialise them.
    package func allows(_ origin: Bytes) -> Bool {
        allowsAny || origins.contains(origin) || isSubdomain(origin)
    }

    func isSubdomain(_ origin: Bytes) -> Bool {
        subdomains.contains { prefix, suffix in
            let length = origin.count - prefix.count - suffix.count
            guard length > 0, origin[0..<prefix.count] == prefix,
                origin[(origin.count - suffix.count)..<origin.count] == suffix
            else { return false }
            return origin[prefix.count..<(prefix.count + length)].isLabel
        }
    }

    /// The origin as a response states it: `*` if it does not matter.
    func stated(_ origin: FieldValue) -> FieldValue { allowsAny ? "*" : origin }
}

extension Bytes {
    /// A label of a host name (RFC 1123, with underscores): no dot, no colon.
    fileprivate var isLabel: Bool {
        let bytes = span
        return bytes.indices.allSatisfy { index in
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

extension FieldName {
    package static var origin: FieldName { "Origin" }
    package static var vary: FieldName { "Vary" }
    package static var requestMethod: FieldName { "Access-Control-Request-Method" }
    package static var allowOrigin: FieldName { "Access-Control-Allow-Origin" }
    package static var allowMethods: FieldName { "Access-Control-Allow-Methods" }
    static var allowCredentials: FieldName { "Access-Control-Allow-Credentials" }
    static var allowHeaders: FieldName { "Access-Control-Allow-Headers" }
    static var exposeHeaders: FieldName { "Access-Control-Expose-Headers" }
    static var maxAge: FieldName { "Access-Control-Max-Age" }
}
