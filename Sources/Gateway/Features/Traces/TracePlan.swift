package import HTTP
package import HTTPClient
package import Reactor

/// `traces:`
package struct TracePlan {
    /// The share of the requests without `traceparent` that are sampled, in millionths.
    package let share: Int
    /// Longer requests are sampled at their end.
    package let slow: Duration
    /// The name of this service in its spans.
    package let service: String
    /// Further attributes of the resource.
    package let resource: [ResourceAttribute]
    package let collector: Collector

    package typealias ResourceAttribute = (key: String, value: String)

    /// Where spans are sent.
    package struct Collector {
        package let origin: Origin
        package let target: Target
        /// Those that are configured.
        package let fields: Fields
        /// For `https://`.
        package let security: StreamSecurity?
        package let encoding: Config.Traces.Encoding
        /// For one attempt.
        package let timeout: Duration

        package init(
            origin: Origin, target: Target, fields: Fields = Fields(),
            security: StreamSecurity? = nil, encoding: Config.Traces.Encoding = .protobuf,
            timeout: Duration = PlanDefaults.traceTimeout
        ) {
            self.origin = origin
            self.target = target
            self.fields = fields
            self.security = security
            self.encoding = encoding
            self.timeout = timeout
        }
    }

    package init(
        share: Int, slow: Duration, service: String, resource: [ResourceAttribute] = [],
        collector: Collector
    ) {
        self.share = share
        self.slow = slow
        self.service = service
        self.resource = resource
        self.collector = collector
    }
}
