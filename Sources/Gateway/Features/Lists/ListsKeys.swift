import JSONText
import YAMLReader

extension Config.Call {
    /// `each:`
    package struct Each: Sendable {
        let location: SourceLocation
        /// `in:`, the list.
        package var list: Located<TemplateText.Reference>?
        /// `as:`, the name of an element in references.
        package var name: Located<String>?
        package var max: Located<Int>?
        package var parallel: Located<Int>?
        /// How many distinct values one request has.
        package var batch: Located<Int>?
        package var match: [Match] = []
        package var enough: Located<Enough>?
        package var over: Located<Over>?
        package var distinct: Located<Bool>?

        init(location: SourceLocation) { self.location = location }

        /// One of `match:`, a path in an element of a result, and the value of the list's element that it is
        /// compared with.
        package struct Match: Sendable {
            let path: Located<String>
            let value: LocatedTemplate
        }

        /// How many elements must have a value.
        package enum Enough: Sendable, Equatable {
            case count(Int)
            /// In per cent.
            case share(Double)
        }

        /// What happens to a list with too many elements.
        package enum Over: String, Sendable, CaseIterable { case refuse, truncate }
    }
}

enum ListsKeys {
    static let call: [BlockKey<Config.Call>] = [
        .block("each", \.each, "makes one request for each element of a list")
    ]
}

extension Config.Call.Each: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "in", \.list, .listReference, isRequired: true,
            "the list: \"{call.items[]}\", \"{request.body.ids[]}\" or \"{request.query.id[]}\""),
        .value("as", \.name, .text, isRequired: true, "name of an element, for references"),
        .value(
            "max", \.max, .count(1...1000),
            default: .description("`32`; required for a list of the client"),
            "maximum number of elements"),
        .value(
            "parallel", \.parallel, .count(1...100), default: .number(PlanDefaults.listParallel),
            "maximum number of its requests in flight"),
        .value(
            "batch", \.batch, .count(1...1000),
            "one request for so many distinct values, whose references are joined: {order.sku,}"),
        .list(
            "match", \.match, .matches,
            "with batch, the key of a result and the value that it is compared with"),
        .value(
            "enough", \.enough, .enough,
            default: .description("`100%` if the call is required, else `1`"),
            "how many elements must have a value, else the call fails: a number or a share"),
        .value(
            "over", \.over, .choice, default: .choice(PlanDefaults.listOver),
            "what happens to a list with more elements: refuse it, or use the first ones"),
        .value(
            "distinct", \.distinct, .flag, default: .flag(true),
            "whether elements with equal requests share one"),
    ]
}

extension ValueReader where Value == TemplateText.Reference {
    /// `{orders.items[]}`
    fileprivate static var listReference: ValueReader {
        let message =
            "must be the reference to a list, such as \"{orders[]}\", \"{request.body.ids[]}\" or"
            + " \"{request.query.id[]}\""
        return .scalar(.text(format: .reference), expected: message) { scalar throws(Refusal) in
            let text = scalar.text
            guard text.hasPrefix("{"), text.hasSuffix("[]}"),
                let template = try? TemplateText(parsing: text.dropLast(3) + "}"),
                let reference = template.soleReference, !reference.isOptional,
                reference.separator == nil, reference.source.canBeList
            else { throw Refusal(.init(fixed: message)) }
            return reference
        }
    }
}

extension ValueReader where Value == [Config.Call.Each.Match] {
    fileprivate static var matches: ValueReader {
        let value = ValueReader<LocatedTemplate>.template(.text(format: .reference)) {
            template throws(Refusal) in
            guard let reference = template.soleReference, !reference.isOptional else {
                throw Refusal("must be one reference, such as \"{order.sku}\"")
            }
        }
        return .map(of: value, checkingKey: JSONPath.check) { path, value in
            Config.Call.Each.Match(path: path, value: value.value)
        }
    }
}

extension TemplateText.Source {
    fileprivate var canBeList: Bool {
        switch self {
        case .name, .call: true
        default: isListOfClient
        }
    }
}

extension ValueReader where Value == Config.Call.Each.Enough {
    fileprivate static var enough: ValueReader {
        let message = "must be a whole number of at least 1, or a share such as 80%"
        return .scalar(.either([.integer(1...1000), .share]), expected: message) {
            scalar throws(Refusal) in
            if case .integer(let count?) = scalar.type, (1...1000).contains(count) {
                return .count(count)
            }
            guard scalar.text.hasSuffix("%"), let share = Double(scalar.text.dropLast()),
                share > 0, share <= 100
            else { throw Refusal(.init(fixed: message)) }
            return .share(share)
        }
    }
}

extension Config.Call {
    /// The call whose response has the list; nil for a list of the client.
    var listCall: String? {
        switch each?.list?.value.source {
        case .name(let name)?, .call(let name, _)?: name
        default: nil
        }
    }

    /// Whether a reference of the call is a value of an element.
    func refersToElement(_ reference: TemplateText.Reference) -> Bool {
        switch reference.source {
        case .name(let name), .call(let name, _): name == each?.name?.value
        default: false
        }
    }
}
