package import Basics
package import YAMLReader

extension Config {
    /// `when:` of a call, and each entry of `require`: a test of a value, or a combination of
    /// conditions.
    ///
    /// Exactly one of `param`, `value`, `all`, `any` and `not` is written.
    package struct Condition: Sendable {
        package let location: SourceLocation
        /// A parameter that must be sent, or have the value in `is`.
        package var param: Located<String>?
        /// The reference whose value is tested.
        package var value: Located<LocatedTemplate>?
        /// Written `is:`.
        package var equal: Located<Operand>?
        /// Written `is_not:`.
        package var unequal: Located<Operand>?
        package var oneOf: [Located<Operand>] = []
        package var has: Located<Operand>?
        package var hasAny: [Located<Operand>] = []
        package var exists: Located<Bool>?
        package var all: [Located<Condition>] = []
        package var any: [Located<Condition>] = []
        /// One condition; a list, because a structure cannot contain itself.
        package var not: [Condition] = []

        init(location: SourceLocation) {
            self.location = location
        }

        /// The maximum number of conditions on a path from the outermost one to a test.
        static let levelsMax = 8
    }
}

extension Config.Condition {
    /// The right side of a test.
    package enum Operand: Sendable {
        /// A number, `true` or `false`, as JSON.
        case constant(Bytes)
        /// A text, with or without references.
        case text(LocatedTemplate)
    }

    /// The conditions that it combines.
    var parts: [Config.Condition] { all.map(\.value) + any.map(\.value) + not }

    /// The condition and its parts. The recursion is as deep as the document, which its reader bounds.
    var allTests: [Config.Condition] { [self] + parts.flatMap(\.allTests) }

    /// The right sides of its own test.
    var operands: [Located<Operand>] {
        [equal, unequal].compactMap { $0 } + oneOf + [has].compactMap { $0 } + hasAny
    }

    /// All references, including the references of its parts. The recursion is as deep as the document,
    /// which its reader bounds.
    package var references: [Located<TemplateText.Reference>] {
        let texts =
            [value?.value].compactMap { $0 }
            + operands.compactMap { if case .text(let text) = $0.value { text } else { nil } }
        return texts.flatMap(\.locatedReferences) + parts.flatMap(\.references)
    }
}
