/// What `explain` knows of the values of a request without its responses, for conditions.
package struct KnownValues: RestrictedValues {
    package let values: CallValues
    /// By the index of the call: whether it certainly has no value.
    private let missing: [Bool]

    package init(_ values: CallValues, missing: [Bool]) {
        self.values = values
        self.missing = missing
    }

    package func isKnown(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .call(let index, _): missing[index]
        // `explain` has the whole head.
        case .param: true
        default: !values.isAssumed(source)
        }
    }
}
