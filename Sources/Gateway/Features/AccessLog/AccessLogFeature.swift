/// `log`: which requests get a line, and what the log shows.
enum AccessLogFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(root: AccessLogKeys.root) }

    static func check(_ check: inout ConfigCheck) { check.checkLog() }
}
