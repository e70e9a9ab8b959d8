package import Basics
package import YAMLReader

extension Config {
    /// One of `rate_limits:`, a rate with a burst, counted by a key.
    package struct RateLimit: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        package var rate: Located<Rate>?
        package var burst: Located<Int>?
        /// Empty for one bucket for all requests.
        package var key: [Located<KeyPart>] = []
        /// Other rates, by the name of the caller's plan.
        package var plans: [PlanRate] = []
        /// Where the name of the plan comes from; if not written, from the caller.
        package var plan: LocatedTemplate?
        package var announce: Located<Announce>?
        package var share: Located<Share>?
        package var sync: Located<Sync>?
        package var whenDown: Located<WhenDown>?
        package var replicas: Located<Int>?

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }

        /// What requests are counted by.
        package enum KeyPart: Sendable {
            /// The client's address; of an IPv6 address its network.
            case address
            /// Who sent the request, as an authenticator established it.
            case caller
            /// A value of the request: a template of one reference.
            case reference(LocatedTemplate)
        }

        /// One of `plans:`.
        package struct PlanRate: Sendable {
            package let name: Located<String>
            package let rate: Located<Rate>
        }

        /// Where the bucket is: in each process, or in the store, for all replicas together.
        package enum Share: String, Sendable, CaseIterable { case process, store }

        /// How often a process uses the store.
        package enum Sync: Sendable, Equatable {
            /// About every request.
            case each
            /// Not about a request, but at an interval.
            case interval(Duration)
        }

        /// What decides while the store is down.
        package enum WhenDown: String, Sendable, CaseIterable { case local, open, closed }

        /// Which responses have the RateLimit fields.
        package enum Announce: String, Sendable, CaseIterable { case always, refused, never }
    }

    /// A number of events per unit of time: `100/s`.
    package struct Rate: Sendable, Equatable {
        package let count: Int
        package let unit: Unit

        package enum Unit: String, Sendable, CaseIterable {
            case second = "s"
            case minute = "m"
            case hour = "h"
            case day = "d"

            package var seconds: Int {
                switch self {
                case .second: 1
                case .minute: 60
                case .hour: 3600
                case .day: 86_400
                }
            }
        }

        package init(_ count: Int, per unit: Unit) {
            self.count = count
            self.unit = unit
        }

        /// As a configuration spells it.
        package var spelled: String { "\(count)/\(unit.rawValue)" }

        /// Nil if the rate or the time to fill the bucket is beyond the limits of `TokenBucket`.
        package func bucket(burst: Int? = nil) -> TokenBucket? {
            TokenBucket(count: count, per: .seconds(unit.seconds), burst: burst ?? count)
        }
    }

    /// An entry of `rate_limits:` of an endpoint: a limit that its requests are charged to.
    package struct LimitUse: Sendable {
        package let location: SourceLocation
        package var limit: Located<String>?
        /// How many requests one request counts as.
        package var cost: Located<Int>?
        /// Requests for which it does not hold are not charged.
        package var when: Condition?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.RateLimit {
    /// The burst and the rate of every plan, the first without a plan.
    package var rates: [(rate: Located<Config.Rate>, burst: Int)] {
        let first = rate.map { [($0, burst?.value ?? $0.value.count)] } ?? []
        return first + plans.map { ($0.rate, $0.rate.value.count) }
    }

    /// Whether replicas share it.
    package var isShared: Bool { share?.value == .store }

    package var replicaCount: Int { replicas?.value ?? PlanDefaults.limitReplicas }

    /// The share of one replica, which decides while the store is down; nil if it is beyond the limits
    /// of `TokenBucket`.
    package func localBucket(of rate: Config.Rate, burst: Int) -> TokenBucket? {
        let period = Duration.seconds(rate.unit.seconds) * replicaCount
        return TokenBucket(count: rate.count, per: period, burst: max(1, burst / replicaCount))
    }

    /// The references of its key and its plan.
    var references: [Located<TemplateText.Reference>] {
        let templates =
            key.compactMap { part in
                if case .reference(let template) = part.value { template } else { nil }
            } + [plan].compactMap { $0 }
        return templates.flatMap { template in
            template.template.references.map { Located($0, at: template.location(of: $0)) }
        }
    }
}

extension Config.LimitUse {
    /// 1 if it is not written.
    package var charge: Int { cost?.value ?? 1 }
}
