/// `security_headers` and `response_headers`: header fields that responses have whatever they say.
enum FixedHeadersFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(root: FixedHeadersKeys.root, endpoint: FixedHeadersKeys.endpoint)
    }

    static func check(_ check: inout ConfigCheck) { check.checkFixedHeaders() }
}
