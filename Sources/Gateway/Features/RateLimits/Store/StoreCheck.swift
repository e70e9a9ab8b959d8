import Basics
import YAMLReader

extension ConfigCheck {
    /// Three requests of each worker wait as long before a store that hangs counts as down.
    private static let storeTimeoutMax = Duration.seconds(1)

    /// The store's credentials and TLS settings, and whether a limit uses it.
    mutating func checkStore() {
        guard let store = config.store else { return }
        checkTLS(
            TLSClient(
                title: "'store'", tls: store.tls,
                secureHost: store.isSecure ? store.url?.location : nil, scheme: "rediss://",
                hasHosts: store.url != nil, needsSystemTrust: store.needsSystemTrust))
        if let username = store.username, store.password == nil,
            isRead("password", of: store.location)
        {
            problems.error(at: username.location, "'username' of 'store' needs 'password'")
        }
        if let timeout = store.timeout, timeout.value > Self.storeTimeoutMax {
            problems.error(
                at: timeout.location,
                "'timeout' of 'store' must be at most 1s: requests wait for it")
        }
        if let password = store.password, password.isVerbatim {
            problems.warning(
                at: password.location,
                "'password' of 'store' is written in the file; use ${file:/path} or ${NAME}, so"
                    + " that the file has no secret")
        }
        if wasRead, !config.rateLimits.contains(where: \.isShared) {
            problems.warning(
                at: store.location, "'store' has no effect: no rate limit has 'share: store'")
        }
    }
}
