package import Basics
package import JSONText

/// What `explain` knows of the values of a request without its responses, for conditions.
package struct KnownValues: ConditionValues {
    private let values: CallValues
    /// By the index of the call: whether it certainly has no value.
    private let missing: [Bool]

    package init(_ values: CallValues, missing: [Bool]) {
        self.values = values
        self.missing = missing
    }

    package func text(of source: CompiledTemplate.Source) -> Bytes? { values.text(of: source) }
    package func json(of source: CompiledTemplate.Source) -> JSONSlice? { values.json(of: source) }
    package func wasSent(param index: Int) -> Bool { values.wasSent(param: index) }

    package func isKnown(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .call(let index, _): missing[index]
        // `explain` has the whole head.
        case .param: true
        default: !values.isAssumed(source)
        }
    }
}
