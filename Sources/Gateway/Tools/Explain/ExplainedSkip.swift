import HTTP

/// Why the request of a call cannot be built, in words: `request.query.q is not sent`.
struct ExplainedSkip {
    private let reason: CallFailure.SkipReason
    /// The value because of which it is skipped; nil if the reason names none.
    private let reference: CompiledTemplate.Reference?
    private let list: CompiledTemplate.Reference?
    private let values: CallValues

    /// - Parameter list: of `each` of the call
    init(
        _ reason: CallFailure.SkipReason, _ reference: CompiledTemplate.Reference?,
        list: CompiledTemplate.Reference?, _ values: CallValues
    ) {
        self.list = list
        self.reason = reason
        self.reference = reference
        self.values = values
    }

    var text: String {
        if let reference { return "\(reference.name) \(fault(of: reference))" }
        return switch reason {
        case .unusable(let text): text
        case .client(let name) where list != nil:
            "\(name) of an element is missing or cannot be sent"
        case .call(let name), .client(let name), .claim(let name), .element(let name):
            "\(name) is missing"
        }
    }

    private func fault(of reference: CompiledTemplate.Reference) -> String {
        let source = reference.source
        if values.isAbsent(source) { return "is not sent" }
        if let refusal = values.refusal(of: source) { return refusal.text }
        if reference.name == list?.name { return "must be a list" }
        guard let text = values.text(of: source) else {
            return values.json(of: source) == nil ? Reason.notJSON.text : "must be a single value"
        }
        return FieldValue(text) == nil
            ? "has a control character, which no header may have" : "cannot be sent at this place"
    }
}
