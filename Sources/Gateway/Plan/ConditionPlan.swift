import Basics
import JSONText

/// A compiled condition: `when` of a call, or an entry of `require`.
///
/// `ConditionPlan+Evaluation.swift` evaluates it over the values of a request; those for `require` are
/// of the head only.
///
/// A class, so that a use of it retains one reference.
package final class ConditionPlan {
    let rule: Rule
    /// As `explain` shows it, without the values of variables: `{user.plan} is "gold"`.
    package let text: String

    init(_ rule: Rule, text: String) {
        self.rule = rule
        self.text = text
    }

    enum Rule {
        /// `param` alone: the client sent the parameter.
        case wasSent(param: Int)
        case test(Operand.Reference, Test)
        case all([ConditionPlan])
        case any([ConditionPlan])
        case not(ConditionPlan)
    }

    enum Test {
        case equals(Operand)
        case differs(Operand)
        case isOneOf([Operand])
        case contains(Operand)
        case containsOneOf([Operand])
        case exists(Bool)
    }

    /// A right side.
    enum Operand {
        case constant(ComparedValue)
        case reference(Reference)
        /// A text that contains references.
        case text(CompiledTemplate)

        /// A reference with the type of its value.
        struct Reference {
            let compiled: CompiledTemplate.Reference
            /// Whether the value is always a text, such as a header's; else it has a JSON type.
            let isTextual: Bool
        }
    }
}

/// A value with its type, as conditions compare it.
enum ComparedValue {
    /// Unescaped.
    case text(Bytes)
    /// As it was written.
    case number(Bytes)
    case boolean(Bool)
    /// An object or an array.
    case container(JSONSlice)
}

extension ConditionPlan {
    /// The values that it uses, including the values of its parts. The recursion is as deep as the
    /// nesting, which `check` limits.
    package var references: [CompiledTemplate.Reference] {
        switch rule {
        case .wasSent: []
        case .test(let reference, let test): [reference.compiled] + test.references
        case .all(let parts), .any(let parts): parts.flatMap(\.references)
        case .not(let part): part.references
        }
    }

    /// The parameters that it uses, by index.
    var params: [Int] {
        switch rule {
        case .wasSent(let param): [param]
        case .test:
            references.compactMap { reference in
                if case .param(let index) = reference.source { index } else { nil }
            }
        case .all(let parts), .any(let parts): parts.flatMap(\.params)
        case .not(let part): part.params
        }
    }

    /// The calls whose responses it uses, ascending and once each.
    package var calls: [Int] {
        let all = references.compactMap { reference in
            if case .call(let index, _) = reference.source { index } else { nil }
        }
        return Set(all).sorted()
    }
}

extension ConditionPlan.Test {
    fileprivate var references: [CompiledTemplate.Reference] {
        switch self {
        case .equals(let operand), .differs(let operand), .contains(let operand):
            operand.references
        case .isOneOf(let operands), .containsOneOf(let operands):
            operands.flatMap(\.references)
        case .exists: []
        }
    }
}

extension ConditionPlan.Operand {
    fileprivate var references: [CompiledTemplate.Reference] {
        switch self {
        case .constant: []
        case .reference(let reference): [reference.compiled]
        case .text(let template): template.references
        }
    }
}
