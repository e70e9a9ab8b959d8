/// A pattern as a tree.
///
/// Every node except `empty` compiles to at least one instruction, so that the limit of
/// instructions bounds the work of compiling; the functions below ensure it.
indirect enum PatternNode: Equatable {
    case empty
    /// One scalar out of a set.
    case one(ScalarSet)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// `most` is nil for no limit.
    case repeated(PatternNode, least: Int, most: Int?)
    /// `^`
    case start
    /// `$`
    case end

    static func inOrder(_ parts: [PatternNode]) -> PatternNode {
        let written = parts.filter { $0 != .empty }
        return switch written.count {
        case 0: .empty
        case 1: written[0]
        default: .sequence(written)
        }
    }

    static func oneOf(_ branches: [PatternNode]) -> PatternNode {
        branches.count == 1 ? branches[0] : .choice(branches)
    }

    func repeated(least: Int, most: Int?) -> PatternNode {
        self == .empty || most == 0 ? .empty : .repeated(self, least: least, most: most)
    }
}
