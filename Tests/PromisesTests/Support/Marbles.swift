import Promises
import Testing

/// Marble diagrams in virtual time: a column is ten milliseconds.
///
///     let marbles = Marbles()
///     let work = marbles.source("----a")                  // a value in column 4
///     let result = work.promise.timeout(.columns(2))
///     marbles.expect(result, "--T")                       // timed out in column 2
///     #expect(work.stopped == "--!")                      // and the work was cancelled
///
/// `-` is a column in which nothing happens. In a source `x`, `y`, `z` are errors and every other
/// character is a value. In a result a value or an error has its character, `!` is a cancellation,
/// `T` a timeout and `?` any other error; a line of `-` alone is a result that is still pending. In
/// each column timers fire first, then sources settle, then the actions of `at` run.
final class Marbles {
    static let column = Duration.milliseconds(10)

    let context: ManualContext
    /// The current column.
    var now: Int { Int(context.now / Marbles.column) }
    private var sources: [Source] = []
    private var actions: [(column: Int, body: () -> Void)] = []

    init(_ context: ManualContext = ManualContext()) {
        self.context = context
    }

    /// A promise that settles as drawn; the first column is the current one.
    func source(_ diagram: String) -> Source {
        let source = Source(diagram, from: now, self)
        sources.append(source)
        return source
    }

    /// Runs an action in a column, usually a cancellation.
    func at(_ column: Int, _ body: @escaping () -> Void) { actions.append((column, body)) }

    /// Advances the time and compares the state of a result with a diagram.
    func expect(
        _ result: Promise<Character>, _ diagram: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect({ result.state }, diagram, sourceLocation)
    }

    func expect(
        _ result: LocalPromise<Character>, _ diagram: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect({ result.state }, diagram, sourceLocation)
    }

    private func expect(
        _ state: () -> PromiseState<Character>, _ diagram: String, _ location: SourceLocation
    ) {
        var observed = ""
        while observed.count < diagram.count {
            settleAndAct()
            let character = Marbles.character(of: state())
            observed.append(character)
            if character != "-" { break }
            context.advance(by: Marbles.column)
        }
        #expect(observed == diagram, sourceLocation: location)
    }

    /// Advances the time beyond every diagram.
    func finish() {
        for _ in 0..<100 {
            context.advance(by: Marbles.column)
            settleAndAct()
        }
    }

    private func settleAndAct() {
        context.advance(by: .zero)
        var settled = 0
        // A source that settles at once may add another one.
        while settled < sources.count {
            sources[settled].settleAndAct(now)
            settled += 1
            context.advance(by: .zero)
        }
        for action in actions where action.column == now { action.body() }
        actions.removeAll { $0.column == now }
        context.advance(by: .zero)
    }

    static func character(of state: PromiseState<Character>) -> Character {
        switch state {
        case .pending: "-"
        case .fulfilled(let value): value
        case .cancelled: "!"
        case .rejected(let error as Failure): error.name.first ?? "?"
        case .rejected(PromiseError.timedOut): "T"
        case .rejected: "?"
        }
    }

    /// One line of the diagram.
    final class Source {
        let promise: Promise<Character>
        private let resolver: SharedResolver<Character>
        private let events: [Character]
        private let start: Int
        private let stop = Journal<Int>()
        private var isSettled = false

        fileprivate init(_ diagram: String, from start: Int, _ marbles: Marbles) {
            events = Array(diagram)
            self.start = start
            resolver = Resolver<Character>(on: marbles.context).shared()
            promise = resolver.promise
            let stop = stop
            let context = marbles.context
            resolver.onCancel { _ in
                stop.add(Int(context.now / Marbles.column))
            }
        }

        fileprivate func settleAndAct(_ column: Int) {
            guard !isSettled, events.indices.contains(column - start),
                events[column - start] != "-"
            else { return }
            isSettled = true
            switch events[column - start] {
            case "x", "y", "z": resolver.reject(Failure(String(events[column - start])))
            default: resolver.fulfill(events[column - start])
            }
        }

        /// When the work was cancelled, drawn from column 0; empty if it was not.
        var stopped: String {
            stop.entries.map { String(repeating: "-", count: $0) + "!" }.joined(separator: " ")
        }
    }
}

extension Duration {
    /// A number of columns of a diagram.
    static func columns(_ count: Int) -> Duration { Marbles.column * count }
}
