import YAMLReader

extension ConfigCheck {
    /// Settings of the access log that have no effect, or write secrets.
    mutating func checkLog() {
        guard let log = config.log else { return }
        checkConditions(of: log)
        checkHeaders(of: log)
        if let query = log.query, query.value == .values {
            problems.warning(
                at: query.location,
                "'query: values' writes the values that clients send into the log, which may be"
                    + " confidential")
        }
        guard log.access?.value == false, wasRead else { return }
        let settings = [
            ("only", log.only.first?.location), ("headers", log.headers.first?.location),
            ("query", log.query?.location),
        ]
        for (key, location) in settings {
            guard let location else { continue }
            problems.warning(at: location, "'\(key)' has no effect with 'access: false'")
        }
    }

    private mutating func checkConditions(of log: Config.Log) {
        var seen: Set<String> = []
        for condition in log.only where !seen.insert(condition.value.kind).inserted {
            problems.warning(
                at: condition.location,
                "'only' has two conditions of the kind '\(condition.value.kind)'; the one that"
                    + " writes more lines holds")
        }
    }

    private mutating func checkHeaders(of log: Config.Log) {
        var seen: Set<String> = []
        for header in log.headers {
            let name = header.value.lowercased()
            if !seen.insert(name).inserted {
                problems.warning(at: header.location, "'headers' has '\(header.quoted)' twice")
            }
            let isCredential =
                HeaderSyntax.isCredential(name)
                || config.authenticators.contains {
                    $0.credentialHeader?.lowercased() == name
                }
            if isCredential {
                problems.warning(
                    at: header.location,
                    "'\(header.quoted)' has credentials, which would be in the log")
            }
            if log.format?.value == .combined, !["referer", "user-agent"].contains(name) {
                problems.warning(
                    at: header.location,
                    "'\(header.quoted)' has no effect with 'format: combined', which shows Referer and"
                        + " User-Agent")
            }
        }
    }
}

extension Config.Log.Condition {
    /// What two conditions must not have in common to be of use together.
    fileprivate var kind: String {
        switch self {
        case .failed, .partial, .rejected: spelled
        case .slow: "slow"
        case .share: "share"
        }
    }
}
