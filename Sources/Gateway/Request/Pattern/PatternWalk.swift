/// Walks through a program from some places to all that can be reached without reading a scalar,
/// each of them once (Thompson, Pike).
struct PatternWalk {
    let program: PatternProgram
    private var origins: [Int] = []
    /// Places that are still to be looked at.
    private var open: [Int] = []
    /// For every place the number of the walk that came by last.
    private var visited: [UInt64]
    private var number: UInt64 = 0

    init(_ program: PatternProgram) {
        self.program = program
        visited = Array(repeating: 0, count: program.instructions.count)
    }

    mutating func beginAtStart() {
        origins = [0]
    }

    /// From behind those of the places that let the scalar pass.
    mutating func begin(fromAll places: [Int], over scalar: Unicode.Scalar) {
        origins.removeAll(keepingCapacity: true)
        for place in places where program.accepts(scalar, at: place) { origins.append(place + 1) }
    }

    /// The places that wait for another scalar, ascending.
    mutating func places(isStart: Bool) -> [Int] {
        var waiting: [Int] = []
        follow(isStart: isStart, isEnd: false) { place, instruction in
            if case .one = instruction { waiting.append(place) }
        }
        return waiting.sorted()
    }

    /// Whether a value that ends here is accepted.
    mutating func accepts(isStart: Bool) -> Bool {
        var isAccepted = false
        follow(isStart: isStart, isEnd: true) { _, instruction in
            if case .accept = instruction { isAccepted = true }
        }
        return isAccepted
    }

    private mutating func follow(
        isStart: Bool, isEnd: Bool, visit: (Int, PatternProgram.Instruction) -> Void
    ) {
        number &+= 1
        for origin in origins { reach(origin) }
        while let place = open.popLast() {
            let instruction = program.instructions[place]
            visit(place, instruction)
            switch instruction {
            case .one, .accept: break
            case .split(let here, let there):
                reach(here)
                reach(there)
            case .jump(let there): reach(there)
            case .start: if isStart { reach(place + 1) }
            case .end: if isEnd { reach(place + 1) }
            }
        }
    }

    private mutating func reach(_ place: Int) {
        if visited[place] == number { return }
        visited[place] = number
        open.append(place)
    }
}
