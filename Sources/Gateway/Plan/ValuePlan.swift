package import Basics
import JSONText

/// A compiled JSON value with references.
package indirect enum ValuePlan {
    /// JSON text.
    case literal(Bytes)
    /// - isTextual: whether the value is a string in JSON, and not JSON itself
    case reference(CompiledTemplate.Reference, isTextual: Bool)
    /// A string of these pieces; literals are escaped.
    case text([CompiledTemplate.Piece])
    case object([Member])
    case list([ValuePlan])

    package struct Member {
        let key: JSONName
        let value: ValuePlan
    }

    /// The recursion is as deep as the value in the configuration.
    var references: [CompiledTemplate.Reference] {
        switch self {
        case .literal: []
        case .reference(let reference, _): [reference]
        case .text(let pieces): pieces.compactMap(\.reference)
        case .object(let members): members.flatMap(\.value.references)
        case .list(let elements): elements.flatMap(\.references)
        }
    }
}
