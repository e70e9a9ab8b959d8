/// `max_in_flight` of an endpoint: limits its requests at the same time.
enum InFlightLimitFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: InFlightLimitKeys.endpoint) }
}
