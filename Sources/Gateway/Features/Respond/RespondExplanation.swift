import Basics
import HTTP
import JSONText

// What `explain` says about `respond`, with references to calls unresolved.
extension RespondPlan {
    /// The response of an endpoint without calls.
    func explained(_ values: CallValues, _ method: Method) -> [String] {
        let content: String? =
            switch body {
            case nil: nil
            case .text(let text): isConfidential ? Self.hidden : String(text)
            case .json(let value): text(of: value, values)
            }
        let text = method == .head || content == nil ? "no body" : content ?? ""
        return ["answer    \(status.code) \(text)"] + explainedLines(values)
    }

    /// The header lines, below the response.
    func explainedLines(_ values: CallValues) -> [String] {
        headers.compactMap { name, template in
            ExplainedMessage.line(template, values, literal: { $0 })
                .map { "          header  \(name): \($0)" }
        }
    }

    /// Nil without `root`.
    func explainedRoot(_ values: CallValues) -> String? { root.map { text(of: $0, values) } }

    /// `"currency":"EUR"`, of `put` and of `default`.
    func explainedMembers(_ values: CallValues) -> [String] {
        put.compactMap { name, value in
            isConfidential
                ? "\(String(name.written))\(Self.hidden)"
                : value.explained(values).map { String(name.written) + $0 }
        }
    }

    /// Whether a member of the root is dropped.
    func drops(_ key: String?) -> Bool {
        droppedPaths.contains { $0.steps == key.map { [.key(Bytes($0))] } }
    }

    private static let hidden = "..."

    private func text(of value: ValuePlan, _ values: CallValues) -> String {
        isConfidential ? Self.hidden : value.explained(values) ?? "null"
    }
}

extension ValuePlan {
    /// Nil where it is left out. The recursion is as deep as the value in the configuration.
    fileprivate func explained(_ values: CallValues) -> String? {
        switch self {
        case .literal(let json): return String(json)
        case .reference(let reference, let isTextual):
            guard values.hasOrAssumes(reference.source) else { return nil }
            return String(ExplainedMessage.json(of: reference, isTextual, in: values))
        case .text(let pieces):
            var text = ""
            for piece in pieces {
                switch piece {
                case .literal(let bytes): text += String(bytes)
                case .reference(let reference, _):
                    guard let value = ExplainedMessage.text(of: reference, in: values) else {
                        return nil
                    }
                    text += value
                }
            }
            return "\"\(text)\""
        case .object(let members):
            let entries = members.compactMap { member in
                member.value.explained(values).map { String(member.key.written) + $0 }
            }
            return "{\(entries.joined(separator: ","))}"
        case .list(let elements):
            return "[\(elements.compactMap { $0.explained(values) }.joined(separator: ","))]"
        }
    }
}

extension CallValues {
    fileprivate func hasOrAssumes(_ source: CompiledTemplate.Source) -> Bool {
        isAssumed(source) || json(of: source) != nil || text(of: source) != nil
    }
}
