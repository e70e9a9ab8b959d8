import Rehearsal

/// A drawn condition: `when`, or one of `require`.
indirect enum DrawnCondition {
    /// `{ param: lang }`, and with `is`.
    case sent(String)
    case param(String, is: String)
    case test(DrawnUse.Source, DrawnTest)
    case all([DrawnCondition])
    case any([DrawnCondition])
    case not(DrawnCondition)

    enum DrawnTest {
        case equals(DrawnOperand)
        case differs(DrawnOperand)
        case oneOf([DrawnOperand])
        case has(DrawnOperand)
        case hasAny([DrawnOperand])
        case exists(Bool)
    }

    /// The right side of a test.
    enum DrawnOperand {
        case text(String)
        /// A number, `true` or `false`, as it is written.
        case constant(String)
        case source(DrawnUse.Source)
    }

    /// The sources of all values.
    var sources: [DrawnUse.Source] {
        switch self {
        case .sent, .param: []
        case .test(let source, let test): [source] + test.operands.compactMap(\.source)
        case .all(let parts), .any(let parts): parts.flatMap(\.sources)
        case .not(let part): part.sources
        }
    }

    /// Whether it has `has` or `has_any`.
    var testsElements: Bool {
        switch self {
        case .test(_, .has), .test(_, .hasAny): true
        case .sent, .param, .test: false
        case .all(let parts), .any(let parts): parts.contains(where: \.testsElements)
        case .not(let part): part.testsElements
        }
    }

    /// The query parameters that it uses by `{request.query.name}`.
    var queryNames: [String] {
        sources.compactMap { if case .query(let name) = $0 { name } else { nil } }
    }

    /// The headers that it uses, also as a parameter: references first, then the tests of a parameter in short.
    var headerNames: [String] {
        sources.compactMap { source in
            switch source {
            case .header(let name): name
            case .param(let name): name.hasPrefix("X-") ? name : nil
            default: nil
            }
        } + shortParams.filter { $0.hasPrefix("X-") }
    }

    /// The parameters of tests in short.
    private var shortParams: [String] {
        switch self {
        case .sent(let name), .param(let name, _): [name]
        case .test: []
        case .all(let parts), .any(let parts): parts.flatMap(\.shortParams)
        case .not(let part): part.shortParams
        }
    }

    /// The calls whose responses it uses.
    var calls: [Int] {
        sources.compactMap { if case .call(let index, _) = $0 { index } else { nil } }
    }
}

extension DrawnCondition.DrawnTest {
    var operands: [DrawnCondition.DrawnOperand] {
        switch self {
        case .equals(let operand), .differs(let operand), .has(let operand): [operand]
        case .oneOf(let operands), .hasAny(let operands): operands
        case .exists: []
        }
    }
}

extension DrawnCondition.DrawnOperand {
    var source: DrawnUse.Source? { if case .source(let source) = self { source } else { nil } }
}

// MARK: - Text

extension DrawnCondition {
    /// The recursion is as deep as it was drawn.
    var tree: Tree {
        switch self {
        case .sent(let name): .members(["param": .scalar(name)])
        case .param(let name, let value): .members(["param": .scalar(name), "is": .scalar(value)])
        case .all(let parts): .members(["all": .array(parts.map(\.tree))])
        case .any(let parts): .members(["any": .array(parts.map(\.tree))])
        case .not(let part): .members(["not": part.tree])
        case .test(let source, let test):
            Tree.members(["value": .text("{\(source.written)}")])
                .setting(test.member.key, test.member.value)
        }
    }
}

extension DrawnCondition.DrawnTest {
    fileprivate var member: (key: String, value: Tree) {
        switch self {
        case .equals(let operand): ("is", operand.tree)
        case .differs(let operand): ("is_not", operand.tree)
        case .oneOf(let operands): ("one_of", .array(operands.map(\.tree)))
        case .has(let operand): ("has", operand.tree)
        case .hasAny(let operands): ("has_any", .array(operands.map(\.tree)))
        case .exists(let isWanted): ("exists", .scalar("\(isWanted)"))
        }
    }
}

extension DrawnCondition.DrawnOperand {
    fileprivate var tree: Tree {
        switch self {
        case .text(let text): .text(text)
        case .constant(let text): .scalar(text)
        case .source(let source): .text("{\(source.written)}")
        }
    }
}
