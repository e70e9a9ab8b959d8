import Basics
import HTTP
import JSONText

/// What `explain` says about `respond`, with references to calls unresolved.
struct RespondExplanation {
    let respond: RespondPlan
    let values: CallValues
    /// The calls that are not sent, so that they have no value.
    let missing: [Int]

    /// The response of an endpoint without calls.
    func fixedLines(_ method: Method) -> [String] {
        let content: String? =
            switch respond.body {
            case nil: nil
            case .text(let text): respond.isConfidential ? Self.hidden : String(text)
            case .json(let value): text(of: value)
            }
        let text = method == .head || content == nil ? "no body" : content ?? ""
        return ["answer    \(respond.status.code) \(text)"] + lines
    }

    /// The header lines, below the response.
    var lines: [String] {
        respond.headers.compactMap { name, template in
            guard !template.references.contains(where: isMissing),
                let value = ExplainedMessage.line(template, values, literal: { $0 }),
                FieldValue(value) != nil
            else { return nil }
            return "          header  \(name): \(value)"
        }
    }

    /// `201 `; empty for 200.
    var status: String { respond.status == .ok ? "" : "\(respond.status.code) " }

    /// Nil without `root`.
    var root: String? { respond.root.map(text) }

    /// The members that are not dropped, then the members of `put` and `default`.
    ///
    /// - Parameter parts: each with the keys that lead to it; none for the members of the root
    func members(_ parts: [(keys: [String], text: String)]) -> [String] {
        let left = parts.filter { part in
            !respond.droppedPaths.contains { path in
                let keys = part.keys.prefix(path.steps.count).map { JSONPath.Step.key(Bytes($0)) }
                return !part.keys.isEmpty && path.steps == keys
            }
        }
        var names = left.compactMap(\.keys.first)
        var members = left.map(\.text)
        for (name, value) in respond.put where !names.contains(String(name.plain)) {
            guard let text = explained(value) else { continue }
            names.append(String(name.plain))
            members.append(String(name.written) + (respond.isConfidential ? Self.hidden : text))
        }
        for (path, value) in respond.defaultValues {
            guard path.steps.count == 1, case .key(let key) = path.steps[0],
                !names.contains(String(key)), !respond.isConfidential
            else { continue }
            members.append(String(JSONName(String(key)).written) + String(value.bytes))
        }
        return members
    }

    private static let hidden = "..."

    private func text(of value: ValuePlan) -> String {
        respond.isConfidential ? Self.hidden : explained(value) ?? "null"
    }

    /// Nil where it is left out. The recursion is as deep as the value in the configuration.
    private func explained(_ value: ValuePlan) -> String? {
        switch value {
        case .literal(let json): return String(json)
        case .reference(let reference, let isTextual):
            guard !isMissing(reference), hasOrAssumes(reference.source) else { return nil }
            return String(ExplainedMessage.json(of: reference, isTextual, in: values))
        case .text(let pieces):
            var text = ""
            for piece in pieces {
                switch piece {
                case .literal(let bytes): text += String(bytes)
                case .reference(let reference, _):
                    guard !isMissing(reference),
                        let value = ExplainedMessage.text(of: reference, in: values)
                    else { return nil }
                    let isKnown = !values.isAssumed(reference.source)
                    text +=
                        isKnown ? String(String(jsonQuoting: value).dropFirst().dropLast()) : value
                }
            }
            return "\"\(text)\""
        case .object(let members):
            let entries = members.compactMap { member in
                explained(member.value).map { String(member.key.written) + $0 }
            }
            return "{\(entries.joined(separator: ","))}"
        case .list(let elements):
            return "[\(elements.compactMap(explained).joined(separator: ","))]"
        }
    }

    private func isMissing(_ reference: CompiledTemplate.Reference) -> Bool {
        if case .call(let index, _) = reference.source { missing.contains(index) } else { false }
    }

    private func hasOrAssumes(_ source: CompiledTemplate.Source) -> Bool {
        values.isAssumed(source) || values.json(of: source) != nil
            || values.text(of: source)?.isUTF8 == true
    }
}
