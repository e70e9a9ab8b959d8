@testable import Gateway

/// The table of a block's keys in the reference, generated from the decoder's tables.
struct ReferenceTable {
    let block: BlockSchema

    var markdown: String {
        let rows = block.keys().map { key in
            "| `\(key.name)` | \(words(for: key.value)) | \(fallback(of: key)) | \(key.doc) |"
        }
        return (["| key | value | default | |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }

    private func fallback(of key: KeySchema) -> String {
        if key.isRequired { return "required" }
        let group = block.alternatives.first { $0.contains(key.name) } ?? []
        if !group.isEmpty { return "one of these" }
        switch key.fallback {
        case .none: return ""
        case .description(let words): return words
        case .value(let tree): return "`\(spelled(tree))`"
        }
    }

    /// In YAML syntax.
    private func spelled(_ tree: JSONTree) -> String {
        switch tree {
        case .text(let text), .raw(let text): text
        case .list(let items): "[\(items.map(spelled).joined(separator: ", "))]"
        case .object: "{}"
        }
    }

    private func words(for value: ValueSchema) -> String {
        switch value {
        case .text(let format): format.rawValue
        case .scalar: "text or number"
        case .flag: "`true` or `false`"
        case .integer(let range):
            switch range.upperBound {
            case .max: "whole number of at least \(range.lowerBound)"
            case range.lowerBound: "`\(range.lowerBound)`"
            case let last: "whole number from \(range.lowerBound) to \(last)"
            }
        case .number: "number"
        case .duration: "time"
        case .size(let max): "size, at most \(Quantity.spelled(bytes: max))"
        case .share: "share"
        case .shareOrZero: "share or `0%`"
        case .choice(let names): names.map { "`\($0)`" }.joined(separator: ", ")
        case .list(.block(let block)): "list of \(link(block))"
        case .list(let item): "list: \(words(for: item))"
        case .oneOrMany(let item): "\(words(for: item)), or a list of them"
        case .map(.block(let block)): "\(link(block)) by name"
        case .map(let item): "mapping: \(words(for: item))"
        case .headers(let item): "mapping: header name to \(words(for: item))"
        case .either(let values): values.map(words).joined(separator: ", or ")
        case .block(let block): link(block)
        case .anything: "any value"
        }
    }

    private func link(_ block: BlockSchema) -> String {
        let name = block.name.lowercased()
        switch name {
        case "property": return "property"
        case "access", "addressfile": return "[address list](clients.md)"
        case "ratelimit": return "[rate limit](rate-limits.md)"
        case "limituse": return "[limit with a cost](rate-limits.md)"
        case "listentls": return "[TLS](listen-tls.md)"
        case "listencertificate": return "[certificate](listen-tls.md)"
        case "authenticator": return "[authenticator](auth.md)"
        case "authrule": return "[auth](auth.md)"
        case "apikeys": return "[API keys](auth.md#api-keys)"
        case "clientcertificaterule": return "[certificates](auth.md#certificates)"
        case "jwt": return "[tokens](jwt.md)"
        case "tokenkeys": return "[keys](jwt.md#keys)"
        case "tokenplace": return "[place of the token](jwt.md#where-the-token-is)"
        case "passwords": return "[passwords](auth.md#basic)"
        case "useragents": return "[user agents](clients.md#user-agents)"
        default: return "[\(name)](\(name).md)"
        }
    }
}

extension BlockSchema {
    /// This block and all nested blocks, once each.
    var family: [BlockSchema] {
        var found: [BlockSchema] = []
        var waiting = [self]
        while let block = waiting.popLast() {
            if found.contains(where: { $0.name == block.name }) { continue }
            found.append(block)
            waiting += block.keys().flatMap { $0.value.blocks }
        }
        return found
    }
}

extension ValueSchema {
    fileprivate var blocks: [BlockSchema] {
        switch self {
        case .block(let block): [block]
        case .list(let item), .oneOrMany(let item), .map(let item), .headers(let item):
            item.blocks
        case .either(let values): values.flatMap(\.blocks)
        case .text, .scalar, .flag, .integer, .number, .duration, .size, .share, .shareOrZero,
            .choice, .anything:
            []
        }
    }
}
