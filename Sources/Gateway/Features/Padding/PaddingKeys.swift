/// The keys of an endpoint that decide when its responses leave.
package struct PaddingKeys: Sendable {
    /// No response leaves earlier.
    package var minimum: Located<Duration>?
    /// Step to which response times above `minimum` are rounded up.
    package var step: Located<Duration>?

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "min_duration", \.padding.minimum, .duration,
            "minimum response time: earlier responses are held back until then"),
        .value(
            "round_up_to", \.padding.step, .duration,
            "step to which response times above min_duration are rounded up"),
    ]
}
