/// Runs a program over a value, all ways through it at once (Pike), and so never twice over a scalar.
///
/// All memory is made with the program; a match allocates nothing.
struct PatternMatcher {
    private let program: PatternProgram
    /// The instructions that wait for the next scalar, each once.
    private var waiting: [Int] = []
    private var following: [Int] = []
    /// Instructions that are still to be looked at without reading a scalar.
    private var open: [Int] = []
    /// For every instruction the step in which it was reached last.
    private var reached: [UInt64]
    private var step: UInt64 = 0
    private var isAccepted = false

    init(_ program: PatternProgram) {
        self.program = program
        let size = program.instructions.count
        reached = Array(repeating: 0, count: size)
        waiting.reserveCapacity(size)
        following.reserveCapacity(size)
        open.reserveCapacity(size)
    }

    mutating func matches(_ text: borrowing UTF8Span) -> Bool {
        var scalars = text.makeUnicodeScalarIterator()
        var next = scalars.next()
        beginStep()
        follow(0, isStart: true, isEnd: next == nil)
        while let scalar = next {
            swap(&waiting, &following)
            if waiting.isEmpty { return false }
            next = scalars.next()
            beginStep()
            for place in waiting {
                guard case .one(let set) = program.instructions[place] else { continue }
                if program.sets[set].contains(scalar) {
                    follow(place + 1, isStart: false, isEnd: next == nil)
                }
            }
        }
        return isAccepted
    }

    private mutating func beginStep() {
        step &+= 1
        isAccepted = false
        following.removeAll(keepingCapacity: true)
    }

    /// Goes on from `place` to every instruction that waits for a scalar.
    private mutating func follow(_ place: Int, isStart: Bool, isEnd: Bool) {
        reach(place)
        while let place = open.popLast() {
            switch program.instructions[place] {
            case .one: following.append(place)
            case .split(let here, let there):
                reach(there)
                reach(here)
            case .jump(let there): reach(there)
            case .start: if isStart { reach(place + 1) }
            case .end: if isEnd { reach(place + 1) }
            case .accept: isAccepted = true
            }
        }
    }

    private mutating func reach(_ place: Int) {
        if reached[place] == step { return }
        reached[place] = step
        open.append(place)
    }
}
