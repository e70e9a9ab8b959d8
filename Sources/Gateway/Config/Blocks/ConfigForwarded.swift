package import HTTP

extension Config {
    /// `forwarded:` of a backend or a call: the headers that send the client's address.
    package enum Forwarded: String, Sendable, CaseIterable { case off, x, rfc7239, both }
}

extension Config.Forwarded {
    /// The headers that the gateway generates.
    package var names: [FieldName] {
        let x: [FieldName] = [.xForwardedFor, .xForwardedProto, .xForwardedHost]
        return switch self {
        case .off: []
        case .x: x
        case .rfc7239: [.forwarded]
        case .both: x + [.forwarded]
        }
    }
}

extension FieldName {
    package static var clientCert: FieldName { "Client-Cert" }
    package static var forwarded: FieldName { "Forwarded" }
    package static var xForwardedFor: FieldName { "X-Forwarded-For" }
    package static var xForwardedProto: FieldName { "X-Forwarded-Proto" }
    package static var xForwardedHost: FieldName { "X-Forwarded-Host" }
}
