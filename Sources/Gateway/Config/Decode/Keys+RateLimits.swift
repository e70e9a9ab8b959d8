import Basics
import YAMLReader

/// The keys of `rate_limits` at the top level and of an endpoint, and the syntax of rates.
extension Config.RateLimit: NamedBlock {
    static let noun = "rate limit"

    static func problem(withName name: String) -> String? {
        if name == "auth_failures" {
            return "no rate limit can have the name 'auth_failures', which is that of a built-in"
                + " limit"
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

extension Config.LimitUse: PlainBlock {
    static let keys: [BlockKey<Config.LimitUse>] = [
        .value("limit", \.limit, .text, isRequired: true, "name of the rate limit"),
        .value(
            "cost", \.cost, .count(1...TokenBucket.countMax), default: .number(1),
            "how many requests one request counts as"),
        .block("when", \.when, "condition without which the request is not charged"),
    ]
}

extension ValueReader where Value == [Located<Config.LimitUse>] {
    /// A list of names, or of blocks with a cost or a condition.
    static var limitUses: ValueReader { .list(of: .limitUse) }
}

extension ValueReader where Value == Config.LimitUse {
    static var limitUse: ValueReader {
        let name = ValueReader<String>.text
        let block = ValueReader<Config.LimitUse>.block
        return ValueReader(schema: .either([name.schema, block.schema])) { node, decoder in
            if case .mapping = node.content { return block.read(node, &decoder) }
            var use = Config.LimitUse(location: node.location)
            guard let limit = name.read(node, &decoder) else { return nil }
            use.limit = Located(limit, of: node)
            return use
        }
    }
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

extension ValueReader where Value == Config.Rate {
    /// `100/s`
    static var rate: ValueReader {
        let message = "must be a rate such as 100/s, 1000/m, 5/h or 10/d"
        return .scalar(.text(format: .rate), expected: message) { scalar throws(Refusal) in
            let parts = scalar.text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let unit = Config.Rate.Unit(rawValue: String(parts[1])),
                let first = parts[0].utf8.first, first != UInt8(ascii: "0"),
                parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { throw Refusal(.init(fixed: message)) }
            guard let count = Int(parts[0]), count <= TokenBucket.countMax else {
                throw Refusal(.init(fixed: "must be at most \(TokenBucket.countMax) per unit"))
            }
            return Config.Rate(count, per: unit)
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
            guard template.segments.count == 1, let reference = template.references.first else {
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
