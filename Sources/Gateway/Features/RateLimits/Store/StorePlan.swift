package import Basics
package import RESP
import Reactor

/// `store:`
package struct StorePlan: Sendable, Equatable {
    package internal(set) var settings: RESPSettings
    /// The beginning of the keys of limits, up to the hash.
    package let keyPrefix: Bytes
    /// As operators see it.
    package let url: String

    package init(settings: RESPSettings, prefix: String, url: String) {
        keyPrefix = Bytes("\(prefix):limit:")
        self.settings = settings
        self.url = url
    }

    /// A copy with other TLS settings, or without TLS, for a simulated store.
    func replacingSecurity(_ replace: (StreamSecurity) -> StreamSecurity?) -> StorePlan {
        var plan = self
        plan.settings.security = settings.security.flatMap(replace)
        return plan
    }
}
