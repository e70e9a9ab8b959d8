import Basics
package import YAMLReader

extension Config {
    /// An entry of `rate_limits:` of an endpoint: a limit that its requests are charged to.
    package struct LimitUse: Sendable {
        package let location: SourceLocation
        package var limit: Located<String>?
        /// How many requests one request counts as.
        package var cost: Located<Cost>?
        /// Requests for which it does not hold are not charged.
        package var when: Condition?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.LimitUse {
    package enum Cost: Sendable, Equatable {
        case fixed(Int)
        /// The number of elements of a list of the request: `{count(request.body.ids)}`.
        case count(TemplateText.Reference)
    }

    /// The list whose elements are counted.
    package var countedList: Located<TemplateText.Reference>? {
        guard let cost, case .count(let reference) = cost.value else { return nil }
        return Located(reference, at: cost.location)
    }
}

enum LimitUseKeys {
    static let defaults: [BlockKey<Config.Defaults>] = [
        .value(
            "rate_limits", \.rateLimits, .limitUses,
            "rate limits that a request is charged to: to all of them or to none")
    ]

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "rate_limits", \.rateLimits, .limitUses, default: .key("defaults.rate_limits"),
            "rate limits that a request is charged to: to all of them or to none")
    ]
}

extension Config {
    /// The list of an endpoint replaces `defaults.rate_limits`.
    package func rateLimits(of endpoint: Endpoint) -> [Located<LimitUse>] {
        endpoint.rateLimits?.value ?? defaults?.rateLimits?.value ?? []
    }
}

extension Config.LimitUse: PlainBlock {
    static let keys: [BlockKey<Config.LimitUse>] = [
        .value("limit", \.limit, .text, isRequired: true, "name of the rate limit"),
        .value(
            "cost", \.cost, .limitCost, default: .number(1),
            "how many requests one request counts as: a number, or \"{count(request.body.ids)}\""),
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

extension ValueReader where Value == Config.LimitUse.Cost {
    /// `20`, or `"{count(request.body.ids)}"`.
    fileprivate static var limitCost: ValueReader {
        let range = 1...TokenBucket.countMax
        let message =
            "must be a whole number from 1 to \(TokenBucket.countMax), or the number of elements of"
            + " a list such as \"{count(request.body.ids)}\""
        let schema = ValueSchema.either([.integer(range), .text(format: .text)])
        return .scalar(schema, expected: message) { scalar throws(Refusal) in
            if case .integer(let count?) = scalar.type, range.contains(count) {
                return .fixed(count)
            }
            let text = scalar.text
            guard text.hasPrefix("{count("), text.hasSuffix(")}"),
                let template = try? TemplateText(
                    parsing: "{\(text.dropFirst("{count(".count).dropLast(2))}"),
                let reference = template.soleReference, !reference.isOptional,
                reference.separator == nil, reference.source.isListOfClient
            else { throw Refusal(.init(fixed: message)) }
            return .count(reference)
        }
    }
}
