/// The deterministic automaton of a program, made state by state as values need it.
///
/// A state is the set of places where the program can be. The way on from a state with an ASCII
/// character is worked out once and looked up from then on, so a match mostly costs one look per
/// byte and allocates nothing. A pattern with more states than are kept starts over with them; even
/// then a character costs no more than looking through the program.
struct PatternAutomaton {
    /// States that are kept: 256 bytes each, and their places. A new start needs room for three.
    static let statesMax = 128

    private struct State: Hashable {
        /// The instructions that wait for a scalar, ascending.
        let places: [Int]
        /// Whether a value may end here.
        let isAccepting: Bool
    }

    /// The state out of which no way leads anywhere.
    private static let dead = 0
    /// A way that nobody has gone yet.
    private static let unknown: Int16 = -1

    private var walk: PatternWalk
    /// Where a value begins; `dead` for a pattern such as `$a`.
    private var start = dead
    private var states: [State] = []
    private var numbers: [State: Int] = [:]
    /// Where each of the 128 characters leads from each state.
    private var ways: [Int16] = []
    /// The same for the other scalars, which are alike where the same sets hold them.
    private var farWays: [FarWay: Int] = [:]

    private struct FarWay: Hashable {
        let state: Int
        let sets: UInt64
    }

    /// How often it started over with its states.
    private var restarts = 0

    /// New starts during one match before it goes on without states: a value that leads through so
    /// many would only work them out to throw them away.
    private static let restartsMax = 1

    var size: Int { walk.program.instructions.count }

    init(_ program: PatternProgram) {
        walk = PatternWalk(program)
        startOver()
    }

    /// - Parameter text: valid UTF-8.
    mutating func matches(_ text: Span<UInt8>) -> Bool {
        var state = start
        var index = 0
        let restartsBefore = restarts
        while index < text.count, state != Self.dead {
            if restarts - restartsBefore >= Self.restartsMax {
                return walk.accepts(text, at: index, from: states[state].places)
            }
            let byte = text[index]
            if byte < 0x80 {
                let way = ways[state << 7 | Int(byte)]
                state = way == Self.unknown ? explore(state, Unicode.Scalar(byte)) : Int(way)
                index += 1
            } else {
                state = far(state, text.scalar(at: &index))
            }
        }
        return states[state].isAccepting
    }

    /// Where a scalar beyond ASCII leads.
    private mutating func far(_ state: Int, _ scalar: Unicode.Scalar) -> Int {
        guard let sets = walk.program.setsHolding(scalar) else { return explore(state, scalar) }
        if let way = farWays[FarWay(state: state, sets: sets)] { return way }
        let kept = states.count
        let goal = explore(state, scalar)
        // After a new start the number of the state we came from means another one.
        if states.count >= kept { farWays[FarWay(state: state, sets: sets)] = goal }
        return goal
    }

    /// Works out where a scalar leads.
    private mutating func explore(_ state: Int, _ scalar: Unicode.Scalar) -> Int {
        var state = state
        if states.count == Self.statesMax {
            let current = states[state]
            startOver()
            state = number(of: current)
        }
        walk.begin(fromAll: states[state].places, over: scalar)
        let goal = number(of: finishWalk(isStart: false))
        if scalar.isASCII { ways[state << 7 | Int(scalar.value)] = Int16(truncatingIfNeeded: goal) }
        return goal
    }

    private mutating func finishWalk(isStart: Bool) -> State {
        let places = walk.places(isStart: isStart)
        return State(places: places, isAccepting: walk.accepts(isStart: isStart))
    }

    private mutating func startOver() {
        restarts &+= 1
        states.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        ways.removeAll(keepingCapacity: true)
        farWays.removeAll(keepingCapacity: true)
        _ = number(of: State(places: [], isAccepting: false))
        walk.beginAtStart()
        start = number(of: finishWalk(isStart: true))
    }

    private mutating func number(of state: State) -> Int {
        if let known = numbers[state] { return known }
        let number = states.count
        states.append(state)
        numbers[state] = number
        ways.append(contentsOf: repeatElement(Self.unknown, count: 128))
        return number
    }
}

extension Span<UInt8> {
    /// The scalar of several bytes at `index`, which goes on behind it; the bytes are valid UTF-8.
    func scalar(at index: inout Int) -> Unicode.Scalar {
        let lead = UInt32(self[index])
        let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        var value = lead & (0x7F >> UInt32(length))
        for offset in (index + 1)..<Swift.min(index + length, count) {
            value = value << 6 | UInt32(self[offset] & 0x3F)
        }
        index += length
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }
}
