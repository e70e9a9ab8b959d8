package import HTTP

extension FieldName {
    package static var gatewayComplete: FieldName { "Gateway-Complete" }
    package static var gatewayFailures: FieldName { "Gateway-Failures" }
}
