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
    /// For every set whether it holds the scalar at hand, if that is known.
    private var verdicts: [Bool?]

    init(_ program: PatternProgram) {
        self.program = program
        visited = Array(repeating: 0, count: program.instructions.count)
        verdicts = Array(repeating: nil, count: program.sets.count)
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

    /// Whether the rest of a value, which is not empty, is accepted from these places on: one step for
    /// every place and scalar, and no memory of its own for a state.
    ///
    /// - Parameter text: valid UTF-8.
    mutating func accepts(_ text: Span<UInt8>, at index: Int, from places: [Int]) -> Bool {
        var index = index
        var places = places
        while index < text.count {
            let byte = text[index]
            let scalar: Unicode.Scalar
            if byte < 0x80 {
                scalar = Unicode.Scalar(byte)
                index += 1
            } else {
                scalar = text.scalar(at: &index)
            }
            beginOnce(fromAll: places, over: scalar)
            if origins.isEmpty { return false }
            places.removeAll(keepingCapacity: true)
            follow(isStart: false, isEnd: false) { place, instruction in
                if case .one = instruction { places.append(place) }
            }
        }
        return accepts(isStart: false)
    }

    /// Like `begin`, with one look at each set: many places share a few of them.
    private mutating func beginOnce(fromAll places: [Int], over scalar: Unicode.Scalar) {
        origins.removeAll(keepingCapacity: true)
        for index in verdicts.indices { verdicts[index] = nil }
        for place in places {
            guard case .one(let set) = program.instructions[place] else { continue }
            let isHeld = verdicts[set] ?? program.sets[set].contains(scalar)
            verdicts[set] = isHeld
            if isHeld { origins.append(place + 1) }
        }
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
