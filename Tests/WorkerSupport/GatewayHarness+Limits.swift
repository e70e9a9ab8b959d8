extension GatewayHarness {
    package static let oneCall = "one: { from: a, get: /1 }"

    /// One endpoint with rate limits.
    ///
    /// - Parameters:
    ///   - limits: the entries of `rate_limits` of the file, in flow style
    ///   - uses: `rate_limits` of the endpoint
    ///   - endpoint: more lines of the endpoint
    ///   - top: more lines of the file
    ///   - files: the contents of files that it names
    package static func limited(
        _ limits: String, _ uses: String, _ endpoint: String = "", top: String = "",
        call: String = oneCall, files: [String: String] = [:]
    ) throws -> GatewayHarness {
        try GatewayHarness(
            call, endpoint: "\(endpoint)\nrate_limits: \(uses)",
            top: "rate_limits: { \(limits) }\n\(top)", files: files)
    }
}
