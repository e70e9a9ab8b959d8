import Basics
import YAMLReader

/// The keys of a condition, and the syntax of its values.
extension Config.Condition: PlainBlock {
    static let alternatives = [["param", "value", "all", "any", "not"]]

    static let keys: [BlockKey<Config.Condition>] = [
        .value(
            "param", \.param, .text,
            "parameter that the client must send, or that has the value of is"),
        .value(
            "value", \.value, .singleReference,
            "reference to the tested value, e.g. \"{user.plan}\""),
        .value("is", \.equal, .operand, "the value must equal this one, in type, too"),
        .value("is_not", \.unequal, .operand, "the value must exist and differ from this one"),
        .list("one_of", \.oneOf, .filledList(of: .operand), "the value must equal one of these"),
        .value("has", \.has, .operand, "the value must be an array that contains this one"),
        .list(
            "has_any", \.hasAny, .filledList(of: .operand),
            "the value must be an array that contains one of these"),
        .value("exists", \.exists, .flag, "whether the value must exist, or must be missing"),
        .list("all", \.all, .filledList(of: .block), "conditions that must all hold"),
        .list("any", \.any, .filledList(of: .block), "conditions of which one must hold"),
        .init("not", ValueReader<Config.Condition>.block.schema, "condition that must not hold") {
            member, condition, decoder in
            guard let part = ValueReader<Config.Condition>.block.read(member.node, &decoder) else {
                return
            }
            condition.not = [part]
        },
    ]
}

extension ValueReader where Value == LocatedTemplate {
    /// One reference without other text.
    static var singleReference: ValueReader {
        template(.text(format: .text)) { template throws(Refusal) in
            guard template.segments.count == 1, !template.references.isEmpty else {
                throw Refusal("must be one reference alone, such as \"{request.header.X-Plan}\"")
            }
            try checkOptional(template)
        }
    }

    /// A condition needs no `?`: it defines what it means if a value is missing.
    static func checkOptional(_ template: TemplateText) throws(Refusal) {
        guard let reference = template.references.first(where: \.isOptional) else { return }
        throw Refusal(
            "must have {\(reference.name)} without the '?'; if a value is missing, only"
                + " 'exists: false' holds")
    }
}

extension ValueReader where Value == Config.Condition.Operand {
    /// A number or truth value, or a text that may have references.
    static var operand: ValueReader {
        ValueReader(schema: .scalar) { node, decoder in
            let scalar = decoder.scalar(
                node, expected: "must be a text, a number, true or false", bracesAreLiteral: false)
            guard let scalar else { return nil }
            switch scalar.type {
            case .null:
                decoder.fail(
                    scalar.location,
                    "must not be null: null counts as a missing value; write 'exists: false'")
                return nil
            case .bool, .integer, .decimal:
                return decoder.jsonLiteral(of: scalar).map { .constant(Bytes($0)) }
            case .string:
                return decoder.template(
                    node, checking: ValueReader<LocatedTemplate>.checkOptional
                ).map { .text($0) }
            }
        }
    }
}
