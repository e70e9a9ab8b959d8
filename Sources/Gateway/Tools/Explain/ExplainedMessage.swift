import Basics
import HTTP
import JSONText

/// The lines of `explain` about the headers and the body of a call, with references to other calls
/// unresolved and without the values of variables.
///
/// Omits `Host`, `X-Request-Id`, `traceparent`, `tracestate` and `Gateway-Deadline-Ms`, which every call sends,
/// the gateway's own `User-Agent`, and the headers of `forwarded`.
struct ExplainedMessage {
    private(set) var fields: [(name: FieldName, value: String)] = []
    private(set) var body: String?

    /// - Parameter values: of a request that can be sent
    init(_ plan: CallPlan, backend: BackendPlan, _ values: CallValues, masksLiterals: Bool) {
        let own = plan.headers.map(\.name)
        fields = backend.shownFields.filter { !own.contains($0.name) }
        if masksLiterals {
            fields = fields.map { name, value in
                (name, SecretMask.headerValue(value, of: "\(name)"))
            }
        }
        for name in ForwardedHeaders(plan, backendFields: backend.fields).ofClients {
            for value in values.head.fields.all(name) { fields.append((name, "\(value)")) }
        }
        for (name, template) in plan.headers {
            let value = Self.line(template, values) { literal in
                masksLiterals
                    ? SecretMask.headerValue(literal, of: "\(name)")
                    : literal
            }
            if let value { fields.append((name, value)) }
        }
        body = plan.body.flatMap { template in
            if masksLiterals, template.wholeBody == nil { return "not shown" }
            return Self.body(template, values)
        }
        if body != nil, !fields.contains(where: { $0.name == .contentType }) {
            let type = plan.body?.contentType ?? BodyTemplatePlan.json
            fields.append((.contentType, String(type.bytes)))
        }
    }

    /// One line for each header, and one for the body.
    var lines: [String] {
        fields.map { "header  \($0.name): \($0.value)" } + (body.map { ["body    \($0)"] } ?? [])
    }

    // MARK: Values

    /// Nil if an absent optional value omits the header.
    static func line(
        _ template: CompiledTemplate, _ values: CallValues, literal: (String) -> String
    ) -> String? {
        var line = ""
        for piece in template.shownPieces {
            switch piece {
            case .literal(let bytes): line += literal(String(bytes))
            case .reference(let reference, let position):
                guard let text = text(of: reference, in: values) else { return nil }
                let escaped = position == .field ? nil : values.escapedText(of: reference)
                line += escaped.map { String($0) } ?? text
            }
        }
        return line
    }

    /// Nil if no body is sent.
    private static func body(_ template: BodyTemplatePlan, _ values: CallValues) -> String? {
        if let whole = template.wholeBody {
            if !values.body.isEmpty { return String(values.body) }
            return whole.isOptional ? nil : "{request.body}"
        }
        if template.isConfidential { return "not shown: it contains variables" }
        var body: [UInt8] = []
        for piece in template.pieces {
            switch piece {
            case .literal(let bytes): body.append(bytes)
            case .comma: template.appendSeparator(to: &body)
            case .json(let reference, let isTextual):
                body.append(json(of: reference, isTextual, in: values))
            case .insideString(let reference): append(reference, to: &body, template, values)
            case .optionalEntry(let key, let reference, let isTextual):
                guard values.isAssumed(reference.source) || !values.isAbsent(reference.source)
                else { continue }
                template.appendSeparator(to: &body)
                body.append(key)
                if template.isForm {
                    append(reference, to: &body, template, values)
                } else {
                    body.append(json(of: reference, isTextual, in: values))
                }
            }
        }
        return String(Bytes(body))
    }

    private static func append(
        _ reference: CompiledTemplate.Reference, to body: inout [UInt8],
        _ template: BodyTemplatePlan, _ values: CallValues
    ) {
        let text = Bytes(text(of: reference, in: values) ?? "")
        if template.isForm, !values.isAssumed(reference.source) {
            template.append(text, to: &body)
        } else {
            body.append(text)
        }
    }

    static func json(
        of reference: CompiledTemplate.Reference, _ isTextual: Bool, in values: CallValues
    ) -> Bytes {
        if let json = values.json(of: reference.source) { return json.bytes }
        let text = Bytes(text(of: reference, in: values) ?? "null")
        guard isTextual, !values.isAssumed(reference.source) else { return text }
        var quoted: [UInt8] = []
        quoted.append(jsonString: text)
        return Bytes(quoted)
    }

    /// The text of a value, or its reference if the value is not known; nil for an absent optional
    /// one.
    static func text(
        of reference: CompiledTemplate.Reference, in values: CallValues
    ) -> String? {
        guard !values.isAssumed(reference.source) else { return "{\(reference.name)}" }
        return values.text(of: reference).map { String($0) }
    }
}
