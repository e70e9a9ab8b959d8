package import Basics
package import JSONText

/// The values that a condition tests: the values of a request (`CallValues`), or what `explain` knows of
/// them.
package protocol ConditionValues {
    /// The plain text of a value; nil where it is missing, null, an object or an array.
    func text(of source: CompiledTemplate.Source) -> Bytes?

    /// The value as JSON; nil where it is missing or null, and for values without a JSON type.
    func json(of source: CompiledTemplate.Source) -> JSONSlice?

    /// Whether the client sent the parameter with this index.
    func wasSent(param index: Int) -> Bool

    /// False if only a real request has the value, so that `explain` cannot know it.
    func isKnown(_ source: CompiledTemplate.Source) -> Bool
}

extension ConditionValues {
    package func isKnown(_ source: CompiledTemplate.Source) -> Bool { true }
}

extension CallValues: ConditionValues {
    package func wasSent(param index: Int) -> Bool { params.wasSent(index) }
}

/// The values of a request, of which some count as not known.
package protocol RestrictedValues: ConditionValues {
    var values: CallValues { get }
}

extension RestrictedValues {
    package func text(of source: CompiledTemplate.Source) -> Bytes? { values.text(of: source) }
    package func json(of source: CompiledTemplate.Source) -> JSONSlice? { values.json(of: source) }
    package func wasSent(param index: Int) -> Bool { values.wasSent(param: index) }
}

/// The values of a request for conditions that protect something: a header or a query parameter that
/// is ambiguous has no known value, because a backend may read another one than the gateway.
struct UnambiguousValues: RestrictedValues {
    let values: CallValues

    func isKnown(_ source: CompiledTemplate.Source) -> Bool { !values.isAmbiguous(source) }
}

/// The values of a head without a client, for `explain`: the client's address is not known.
struct ClientlessValues: RestrictedValues {
    let values: CallValues

    func isKnown(_ source: CompiledTemplate.Source) -> Bool {
        if case .requestClient = source { false } else { true }
    }
}
