/// Simulates a program: from some instructions it visits all that are reachable without reading a
/// scalar, each of them once (Thompson, Pike).
struct PatternSimulation {
    let program: PatternProgram
    private var starts: [Int] = []
    /// Instructions that are still to be visited.
    private var unvisited: [Int] = []
    /// For every instruction the number of the last pass that visited it.
    private var visited: [UInt64]
    private var pass: UInt64 = 0
    /// For every set whether it contains the current scalar, if that is known.
    private var memberships: [Bool?]

    init(_ program: PatternProgram) {
        self.program = program
        visited = Array(repeating: 0, count: program.instructions.count)
        memberships = Array(repeating: nil, count: program.sets.count)
    }

    mutating func beginAtStart() {
        starts = [0]
    }

    /// Starts after the instructions that accept the scalar.
    mutating func advance(from instructions: [Int], over scalar: Unicode.Scalar) {
        starts.removeAll(keepingCapacity: true)
        for index in instructions where program.accepts(scalar, at: index) {
            starts.append(index + 1)
        }
    }

    /// The instructions that wait for another scalar, ascending.
    mutating func instructions(isStart: Bool) -> [Int] {
        var instructions: [Int] = []
        visitReachable(isStart: isStart, isEnd: false) { index, instruction in
            if case .one = instruction { instructions.append(index) }
        }
        return instructions.sorted()
    }

    /// Whether a value that ends here is accepted.
    mutating func accepts(isStart: Bool) -> Bool {
        var isAccepted = false
        visitReachable(isStart: isStart, isEnd: true) { _, instruction in
            if case .accept = instruction { isAccepted = true }
        }
        return isAccepted
    }

    /// Whether the rest of a value, which is not empty, is accepted from these instructions on: one
    /// step for every instruction and scalar, without caching states.
    ///
    /// - Parameter text: valid UTF-8.
    mutating func accepts(_ text: Span<UInt8>, at index: Int, from instructions: [Int]) -> Bool {
        var index = index
        var instructions = instructions
        while index < text.count {
            let byte = text[index]
            let scalar: Unicode.Scalar
            if byte < 0x80 {
                scalar = Unicode.Scalar(byte)
                index += 1
            } else {
                scalar = text.scalar(at: &index)
            }
            advanceOnce(from: instructions, over: scalar)
            if starts.isEmpty { return false }
            instructions.removeAll(keepingCapacity: true)
            visitReachable(isStart: false, isEnd: false) { index, instruction in
                if case .one = instruction { instructions.append(index) }
            }
        }
        return accepts(isStart: false)
    }

    /// Like `advance(from:over:)`, but tests each set once: many instructions share a few sets.
    private mutating func advanceOnce(from instructions: [Int], over scalar: Unicode.Scalar) {
        starts.removeAll(keepingCapacity: true)
        for index in memberships.indices { memberships[index] = nil }
        for index in instructions {
            guard case .one(let set) = program.instructions[index] else { continue }
            let isMember = memberships[set] ?? program.sets[set].contains(scalar)
            memberships[set] = isMember
            if isMember { starts.append(index + 1) }
        }
    }

    private mutating func visitReachable(
        isStart: Bool, isEnd: Bool, visit: (Int, PatternProgram.Instruction) -> Void
    ) {
        pass &+= 1
        for start in starts { addUnvisited(start) }
        while let index = unvisited.popLast() {
            let instruction = program.instructions[index]
            visit(index, instruction)
            switch instruction {
            case .one, .accept: break
            case .split(let next, let target):
                addUnvisited(next)
                addUnvisited(target)
            case .jump(let target): addUnvisited(target)
            case .start: if isStart { addUnvisited(index + 1) }
            case .end: if isEnd { addUnvisited(index + 1) }
            }
        }
    }

    private mutating func addUnvisited(_ index: Int) {
        if visited[index] == pass { return }
        visited[index] = pass
        unvisited.append(index)
    }
}
