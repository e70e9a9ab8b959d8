/// A pattern as the instructions of a nondeterministic automaton (Thompson).
struct PatternProgram {
    /// The maximum of instructions of one pattern.
    ///
    /// It is also the maximum of steps for one character of a value.
    static let sizeMax = 2_000

    enum Instruction {
        /// Continues with the next instruction, if the next scalar is in the set.
        case one(set: Int)
        /// Continues with both instructions.
        case split(Int, Int)
        case jump(Int)
        /// Continues with the next instruction, at the start of the value only.
        case start
        /// Continues with the next instruction, at the end of the value only.
        case end
        case accept
    }

    private(set) var instructions: [Instruction] = []
    private(set) var sets: [ScalarSet] = []

    init(compiling node: PatternNode) throws(PatternError) {
        try emit(node)
        try append(.accept)
    }

    /// Recurses as deep as groups nest, which the parser limits.
    private mutating func emit(_ node: PatternNode) throws(PatternError) {
        switch node {
        case .empty: break
        case .one(let set): try append(.one(set: index(of: set)))
        case .sequence(let parts): for part in parts { try emit(part) }
        case .choice(let branches): try emit(choice: branches)
        case .repeated(let part, let least, let most): try emit(part, least: least, most: most)
        case .start: try append(.start)
        case .end: try append(.end)
        }
    }

    /// Whether a scalar passes the instruction.
    func accepts(_ scalar: Unicode.Scalar, at index: Int) -> Bool {
        guard case .one(let set) = instructions[index] else { return false }
        return sets[set].contains(scalar)
    }

    /// One bit for every set that contains the scalar; nil if there are more sets than bits.
    func setsContaining(_ scalar: Unicode.Scalar) -> UInt64? {
        if sets.count > 64 { return nil }
        var found: UInt64 = 0
        for index in sets.indices where sets[index].contains(scalar) { found |= 1 << UInt64(index) }
        return found
    }

    private mutating func append(_ instruction: Instruction) throws(PatternError) {
        if instructions.count == PatternProgram.sizeMax {
            throw PatternError(offset: 0, reason: .tooLarge)
        }
        instructions.append(instruction)
    }

    private mutating func emit(choice branches: [PatternNode]) throws(PatternError) {
        var jumps: [Int] = []
        for branch in branches.dropLast() {
            let split = try emitPlaceholder()
            try emit(branch)
            jumps.append(try emitPlaceholder())
            instructions[split] = .split(split + 1, instructions.count)
        }
        if let last = branches.last { try emit(last) }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func emit(
        _ part: PatternNode, least: Int, most: Int?
    ) throws(PatternError) {
        for _ in 0..<least { try emit(part) }
        guard let most else {
            let split = try emitPlaceholder()
            try emit(part)
            try append(.jump(split))
            instructions[split] = .split(split + 1, instructions.count)
            return
        }
        var splits: [Int] = []
        for _ in least..<most {
            splits.append(try emitPlaceholder())
            try emit(part)
        }
        for split in splits { instructions[split] = .split(split + 1, instructions.count) }
    }

    /// Appends an instruction whose target is set later.
    private mutating func emitPlaceholder() throws(PatternError) -> Int {
        try append(.jump(0))
        return instructions.count - 1
    }

    private mutating func index(of set: ScalarSet) -> Int {
        if let known = sets.firstIndex(of: set) { return known }
        sets.append(set)
        return sets.count - 1
    }
}
