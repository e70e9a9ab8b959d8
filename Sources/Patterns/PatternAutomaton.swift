/// A deterministic automaton (DFA) of a program, whose states are made as values need them.
///
/// A state is a set of instructions of the program. The transition from a state on an ASCII
/// character is computed once and then looked up, so a match usually costs one lookup per byte and
/// allocates nothing. If a pattern needs more states than the limit, all states are discarded; even
/// then a character costs at most one pass over the program.
struct PatternAutomaton {
    /// The maximum of cached states: 256 bytes each, and their instructions. At least three are
    /// needed after discarding the states.
    static let statesMax = 128

    private struct State: Hashable {
        /// The instructions that wait for a scalar, ascending.
        let instructions: [Int]
        /// Whether a value may end here.
        let isAccepting: Bool
    }

    /// The state from which no match is possible.
    private static let dead = 0
    /// A transition that is not computed yet.
    private static let unknown: Int16 = -1

    private var simulation: PatternSimulation
    /// The start state; `dead` for a pattern such as `$a`.
    private var start = dead
    private var states: [State] = []
    private var indices: [State: Int] = [:]
    /// The transition of each state on each of the 128 ASCII characters.
    private var transitions: [Int16] = []
    /// The transitions on other scalars. Scalars that are in the same sets have the same
    /// transition.
    private var nonASCIITransitions: [TransitionKey: Int] = [:]

    private struct TransitionKey: Hashable {
        let state: Int
        let sets: UInt64
    }

    /// How often the states were discarded.
    private var discards = 0

    /// How often one match may discard the states before it continues without states: a value that
    /// needs so many would compute them only to discard them.
    private static let discardsMax = 1

    var size: Int { simulation.program.instructions.count }

    init(_ program: PatternProgram) {
        simulation = PatternSimulation(program)
        discardStates()
    }

    /// - Parameter text: valid UTF-8.
    mutating func matches(_ text: Span<UInt8>) -> Bool {
        var state = start
        var index = 0
        let discardsBefore = discards
        while index < text.count, state != Self.dead {
            if discards - discardsBefore >= Self.discardsMax {
                return simulation.accepts(text, at: index, from: states[state].instructions)
            }
            let byte = text[index]
            if byte < 0x80 {
                let transition = transitions[state << 7 | Int(byte)]
                state =
                    transition == Self.unknown
                    ? computeTransition(state, Unicode.Scalar(byte)) : Int(transition)
                index += 1
            } else {
                state = nonASCIITransition(state, text.scalar(at: &index))
            }
        }
        return states[state].isAccepting
    }

    /// The transition on a scalar beyond ASCII.
    private mutating func nonASCIITransition(_ state: Int, _ scalar: Unicode.Scalar) -> Int {
        guard let sets = simulation.program.setsContaining(scalar) else {
            return computeTransition(state, scalar)
        }
        if let transition = nonASCIITransitions[TransitionKey(state: state, sets: sets)] {
            return transition
        }
        let countBefore = states.count
        let target = computeTransition(state, scalar)
        // After discarding, the number of the source state belongs to another state.
        if states.count >= countBefore {
            nonASCIITransitions[TransitionKey(state: state, sets: sets)] = target
        }
        return target
    }

    /// Computes a transition.
    private mutating func computeTransition(_ state: Int, _ scalar: Unicode.Scalar) -> Int {
        var state = state
        if states.count == Self.statesMax {
            let current = states[state]
            discardStates()
            state = index(of: current)
        }
        simulation.advance(from: states[state].instructions, over: scalar)
        let target = index(of: finishState(isStart: false))
        if scalar.isASCII {
            transitions[state << 7 | Int(scalar.value)] = Int16(truncatingIfNeeded: target)
        }
        return target
    }

    private mutating func finishState(isStart: Bool) -> State {
        let instructions = simulation.instructions(isStart: isStart)
        return State(instructions: instructions, isAccepting: simulation.accepts(isStart: isStart))
    }

    private mutating func discardStates() {
        discards &+= 1
        states.removeAll(keepingCapacity: true)
        indices.removeAll(keepingCapacity: true)
        transitions.removeAll(keepingCapacity: true)
        nonASCIITransitions.removeAll(keepingCapacity: true)
        _ = index(of: State(instructions: [], isAccepting: false))
        simulation.beginAtStart()
        start = index(of: finishState(isStart: true))
    }

    private mutating func index(of state: State) -> Int {
        if let index = indices[state] { return index }
        let index = states.count
        states.append(state)
        indices[state] = index
        transitions.append(contentsOf: repeatElement(Self.unknown, count: 128))
        return index
    }
}

extension Span<UInt8> {
    /// Reads the scalar of several bytes at `index`, and moves `index` after it; the bytes are
    /// valid UTF-8.
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
