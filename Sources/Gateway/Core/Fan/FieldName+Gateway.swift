package import HTTP

extension FieldName {
    package static var gatewayComplete: FieldName { "Gateway-Complete" }
    /// `no` keeps a reverse proxy from collecting the response before it sends it.
    static var accelBuffering: FieldName { "X-Accel-Buffering" }
    package static var gatewayFailures: FieldName { "Gateway-Failures" }
}
