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

enum RateLimitsKeys {
    static let root: [BlockKey<Config>] = [
        .list(
            "rate_limits", \.rateLimits, .named(),
            "rates of requests, by name; they apply where an endpoint or defaults lists them")
    ]
}

extension Config.RateLimit: NamedBlock {
    static let noun = "rate limit"

    static func problem(withName name: String) -> String? {
        if name == "auth_failures" {
            return "no rate limit can have the name 'auth_failures', which a built-in limit has"
        }
        return Config.Param.isName(name)
            ? nil : "bad name '\(name)' of a rate limit; names consist of letters, digits, _ and -"
    }

    static let keys: [BlockKey<Config.RateLimit>] = [
        .value(
            "rate", \.rate, .rate, isRequired: true,
            "requests per second, minute, hour or day, e.g. 100/s"),
        .value(
            "burst", \.burst, .count(1...TokenBucket.countMax),
            default: .description("the number of `rate`"), "requests that may come at once"),
        .list(
            "key", \.key, .limitKey,
            "what is counted separately: address, caller, a reference, or a list; if absent, all"
                + " requests together"),
        .list(
            "plans", \.plans, .planRates,
            "rates of callers with a plan, by its name; each is also their burst"),
        .init(
            "plan", ValueReader.limitReference.schema,
            default: .description("the plan of the caller"), "reference to the name of the plan"
        ) { member, limit, decoder in
            limit.plan = ValueReader.limitReference.read(member.node, &decoder)
        },
        .value(
            "announce", \.announce, .choice, default: .choice(PlanDefaults.announce),
            "which responses have the RateLimit header fields"),
        .value(
            "share", \.share, .choice, default: .choice(PlanDefaults.limitShare),
            "where requests are counted: in each process, or in the store for all replicas"),
        .value(
            "sync", \.sync, .limitSync, default: .text("each"),
            "with share: store, how often the store is used: for each request, or at an interval"),
        .value(
            "when_down", \.whenDown, .choice, default: .choice(PlanDefaults.limitWhenDown),
            "while the store is down: the rate divided by replicas, no limit (open), or 503 (closed)"
        ),
        .value(
            "replicas", \.replicas, .count(1...1000),
            default: .number(PlanDefaults.limitReplicas),
            "number of replicas, by which the rate is divided while the store is down"),
    ]
}

extension ValueReader where Value == Config.RateLimit.Sync {
    /// `each`, or a time.
    static var limitSync: ValueReader {
        let interval = ValueReader<Duration>.duration
        return ValueReader(
            schema: .either([.choice(["each"]), interval.schema])
        ) { node, decoder in
            if case .scalar(let scalar) = node.content, scalar.text == "each" { return .each }
            return interval.read(node, &decoder).map { .interval($0) }
        }
    }
}

extension ValueReader where Value == [Config.RateLimit.PlanRate] {
    static var planRates: ValueReader {
        .map(
            of: .rate,
            checkingKey: { name throws(Refusal) in
                guard !name.isEmpty else { throw Refusal("needs a name for each plan") }
            }
        ) { name, rate in Config.RateLimit.PlanRate(name: name, rate: rate) }
    }
}

extension ValueReader where Value == [Located<Config.RateLimit.KeyPart>] {
    /// One part, or a list of parts that are counted together.
    static var limitKey: ValueReader {
        let parts = ValueReader.oneOrMany(of: .keyPart)
        return ValueReader(schema: parts.schema) { node, decoder in
            if case .sequence([]) = node.content {
                decoder.fail(node.location, "must not be empty")
                return nil
            }
            return parts.read(node, &decoder)
        }
    }
}

extension ValueReader where Value == Config.RateLimit.KeyPart {
    static var keyPart: ValueReader {
        let reference = ValueReader<LocatedTemplate>.limitReference
        let names: [String: Config.RateLimit.KeyPart] = ["address": .address, "caller": .caller]
        return ValueReader(
            schema: .either([.choice(["address", "caller"]), reference.schema])
        ) { node, decoder in
            if case .scalar(let scalar) = node.content, let part = names[scalar.text] {
                return part
            }
            return reference.read(node, &decoder).map { .reference($0) }
        }
    }
}

extension ValueReader where Value == LocatedTemplate {
    /// A text that is one reference.
    static var limitReference: ValueReader {
        template(.text(format: .reference)) { template throws(Refusal) in
            guard let reference = template.soleReference else {
                throw Refusal(
                    "must be address, caller or one reference such as \"{request.header.X-Tenant}\""
                )
            }
            guard !reference.isOptional else {
                throw Refusal("must not have a '?': if the value is absent, the address counts")
            }
        }
    }
}
