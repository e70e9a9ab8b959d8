import Basics
import HTTP
import JSONText

/// Compiles the templates of one call: names to indices, literals to bytes, positions to escaping
/// rules.
struct TemplatePlanner {
    let scope: CallScope

    /// The template of path and query; the query begins after the first `?`.
    func target(_ located: LocatedTemplate) throws(PlanError) -> CompiledTemplate {
        let pieces = try targetPieces(located.template, of: located)
        return CompiledTemplate(
            pieces: pieces,
            concealed: located.written == nil ? nil : try targetPieces(located.shown, of: located),
            riskySegments: CompiledTemplate.riskySegments(of: pieces))
    }

    private func targetPieces(
        _ template: TemplateText, of located: LocatedTemplate
    ) throws(PlanError) -> [CompiledTemplate.Piece] {
        var position = CompiledTemplate.Position.pathSegment
        var pieces: [CompiledTemplate.Piece] = []
        for segment in template.segments {
            switch segment {
            case .literal(let text):
                pieces.append(.literal(Self.encoded(text)))
                if text.utf8.contains(UInt8(ascii: "?")) { position = .query }
            case .reference(let reference):
                pieces.append(.reference(try compile(reference, at: located), position))
            }
        }
        return pieces
    }

    /// The template of a header's value.
    func field(_ located: LocatedTemplate) throws(PlanError) -> CompiledTemplate {
        CompiledTemplate(
            pieces: try fieldPieces(located.template, of: located),
            concealed: located.written == nil ? nil : try fieldPieces(located.shown, of: located))
    }

    private func fieldPieces(
        _ template: TemplateText, of located: LocatedTemplate
    ) throws(PlanError) -> [CompiledTemplate.Piece] {
        var pieces: [CompiledTemplate.Piece] = []
        for segment in template.segments {
            switch segment {
            case .literal(let text): pieces.append(.literal(Bytes(text)))
            case .reference(let reference):
                pieces.append(.reference(try compile(reference, at: located), .field))
            }
        }
        return pieces
    }

    func body(_ template: BodyTemplate) throws(PlanError) -> BodyTemplatePlan {
        var pieces: [BodyTemplatePlan.Piece] = []
        for piece in template.pieces {
            switch piece {
            case .literal(let text): pieces.append(.literal(Bytes(text)))
            case .value(let reference, let location):
                let compiled = try compile(reference, at: "\(location)")
                pieces.append(.json(compiled, isTextual: isTextual(compiled.source)))
            case .insideString(let reference, let location):
                pieces.append(.insideString(try compile(reference, at: "\(location)")))
            case .comma: pieces.append(.comma)
            case .optionalEntry(let key, let reference, let location):
                let compiled = try compile(reference, at: "\(location)")
                pieces.append(
                    .optionalEntry(
                        key: Bytes(key), compiled, isTextual: isTextual(compiled.source)))
            }
        }
        return BodyTemplatePlan(
            pieces: pieces, isForm: template.isForm, isConfidential: template.isConfidential)
    }

    /// The recursion is as deep as the value in the configuration.
    func value(_ template: ValueTemplate) throws(PlanError) -> ValuePlan {
        switch template {
        case .literal(let json): return .literal(Bytes(json))
        case .reference(let reference, let location):
            let compiled = try compile(reference, at: "\(location)")
            return .reference(compiled, isTextual: isTextual(compiled.source))
        case .text(let text):
            return .text(
                try fieldPieces(text.template, of: text).map { piece in
                    guard case .literal(let bytes) = piece else { return piece }
                    var escaped: [UInt8] = []
                    escaped.append(insideJSONString: bytes)
                    return .literal(Bytes(escaped))
                })
        case .object(let members):
            var compiled: [ValuePlan.Member] = []
            for member in members {
                compiled.append(
                    ValuePlan.Member(
                        key: JSONName(member.key), value: try value(member.value)))
            }
            return .object(compiled)
        case .list(let elements):
            var compiled: [ValuePlan] = []
            for element in elements { compiled.append(try value(element)) }
            return .list(compiled)
        }
    }

    /// A value that a condition compares.
    func operand(
        _ reference: TemplateText.Reference, at located: LocatedTemplate
    ) throws(PlanError) -> ConditionPlan.Operand.Reference {
        let compiled = try compile(reference, at: located)
        return ConditionPlan.Operand.Reference(
            compiled: compiled, isTextual: isTextual(compiled.source))
    }

    private func compile(
        _ reference: TemplateText.Reference, at located: LocatedTemplate
    ) throws(PlanError) -> CompiledTemplate.Reference {
        try compile(reference, at: "\(located.location(of: reference))")
    }

    func compile(
        _ reference: TemplateText.Reference, at location: String
    ) throws(PlanError) -> CompiledTemplate.Reference {
        CompiledTemplate.Reference(
            source: try source(reference.source, at: location), name: reference.name,
            isOptional: reference.isOptional, separator: Self.separator(reference.separator))
    }

    private static func separator(_ separator: TemplateText.Separator?) -> Bytes? {
        switch separator {
        case nil: nil
        case .comma: Bytes(",")
        case .parameter(let name): encoded("&\(name)=")
        }
    }

    private func source(
        _ source: TemplateText.Source, at location: String
    ) throws(PlanError) -> CompiledTemplate.Source {
        switch source {
        case .name(let name) where name == scope.element: return .element(nil)
        case .call(let name, let path) where name == scope.element:
            return .element(Self.path(path))
        case .name(let name):
            if let param = scope.param(named: name) { return .param(param) }
            if let call = scope.call(named: name) { return .call(call, nil) }
            throw PlanError("\(location): no parameter or call \(name)")
        case .call("token", let path) where scope.readsTokens:
            guard let path = Self.path(path) else { throw PlanError("\(location): no claim") }
            return .token(path)
        case .call(let name, let path):
            guard let call = scope.call(named: name) else {
                throw PlanError("\(location): no call \(name)")
            }
            return .call(call, Self.path(path))
        case .requestHeader(let name):
            guard let fieldName = FieldName(name) else {
                throw PlanError("\(location): not a header name")
            }
            return .requestHeader(fieldName)
        case .requestQuery(let name): return .requestQuery(Bytes(name))
        case .requestClient: return .requestClient
        case .requestCaller: return .requestCaller
        case .requestBody(let path): return .requestBody(path.isEmpty ? nil : Self.path(path))
        }
    }

    static func path(_ steps: [TemplateText.Step]) -> JSONPath? {
        guard !steps.isEmpty else { return nil }
        return JSONPath(
            steps: steps.map { step in
                switch step {
                case .key(let key): .key(Bytes(key))
                case .index(let index): .element(index)
                }
            })
    }

    /// Whether the value is a string in JSON: a parameter that is neither a number nor a boolean, a
    /// header, an undeclared query parameter, the client's address, or the caller's name.
    func isTextual(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .param(let index): !scope.params[index].isJSON
        case .requestHeader, .requestQuery, .requestClient, .requestCaller: true
        case .call, .requestBody, .token, .element: false
        }
    }

    /// The configured text, with every byte escaped that a request target must not contain.
    static func encoded(_ text: String) -> Bytes {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") {
                bytes.append(byte)
            } else {
                bytes.append(percentEncoding: Bytes([byte]).span)
            }
        }
        return Bytes(bytes)
    }
}
