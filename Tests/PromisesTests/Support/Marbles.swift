import Promises
import Testing

/// Time drawn as text, in virtual time: a column is ten milliseconds.
///
///     let marbles = Marbles()
///     let work = marbles.source("----a")                  // a value in column 4
///     let answer = work.promise.timeout(.columns(2))
///     marbles.expect(answer, "--T")                       // timed out in column 2
///     #expect(work.stopped == "--!")                      // and the work was told to stop
///
/// `-` is a column in which nothing happens. In a source `x`, `y`, `z` are errors and every other
/// character is a value. In an answer a value or an error has its character, `!` is a cancellation,
/// `T` a timeout and `?` any other error; a line of `-` alone is an answer that is still pending.
/// In each column clocks ring first, then sources settle, then the cuts (`cancel`) fall.
final class Marbles {
    static let column = Duration.milliseconds(10)

    let context: ManualContext
    /// The present column.
    var now: Int { Int(context.now / Marbles.column) }
    private var sources: [Source] = []
    private var cuts: [(column: Int, body: () -> Void)] = []

    init(_ context: ManualContext = ManualContext()) {
        self.context = context
    }

    /// A promise that settles as drawn; the first column is the present one.
    func source(_ diagram: String) -> Source {
        let source = Source(diagram, from: now, self)
        sources.append(source)
        return source
    }

    /// Does something in a column: cancels, mostly.
    func at(_ column: Int, _ body: @escaping () -> Void) { cuts.append((column, body)) }

    /// Lets time pass and compares what becomes of an answer with a drawing.
    func expect(
        _ answer: Promise<Character>, _ diagram: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect({ answer.state }, diagram, sourceLocation)
    }

    func expect(
        _ answer: LocalPromise<Character>, _ diagram: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect({ answer.state }, diagram, sourceLocation)
    }

    private func expect(
        _ state: () -> PromiseState<Character>, _ diagram: String, _ location: SourceLocation
    ) {
        var drawn = ""
        while drawn.count < diagram.count {
            play()
            let sign = Marbles.sign(of: state())
            drawn.append(sign)
            if sign != "-" { break }
            context.advance(by: Marbles.column)
        }
        #expect(drawn == diagram, sourceLocation: location)
    }

    /// The rest of the time that was drawn.
    func finish() {
        for _ in 0..<100 {
            context.advance(by: Marbles.column)
            play()
        }
    }

    private func play() {
        context.advance(by: .zero)
        var played = 0
        // A source that settles at once may lead to another.
        while played < sources.count {
            sources[played].play(now)
            played += 1
            context.advance(by: .zero)
        }
        for cut in cuts where cut.column == now { cut.body() }
        cuts.removeAll { $0.column == now }
        context.advance(by: .zero)
    }

    static func sign(of state: PromiseState<Character>) -> Character {
        switch state {
        case .pending: "-"
        case .fulfilled(let value): value
        case .cancelled: "!"
        case .rejected(let error as Failure): error.name.first ?? "?"
        case .rejected(PromiseError.timedOut): "T"
        case .rejected: "?"
        }
    }

    /// One line of the drawing.
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

        fileprivate func play(_ column: Int) {
            guard !isSettled, events.indices.contains(column - start),
                events[column - start] != "-"
            else { return }
            isSettled = true
            switch events[column - start] {
            case "x", "y", "z": resolver.reject(Failure(String(events[column - start])))
            default: resolver.fulfill(events[column - start])
            }
        }

        /// When the work was told to stop, drawn from column 0; empty if it never was.
        var stopped: String {
            stop.entries.map { String(repeating: "-", count: $0) + "!" }.joined(separator: " ")
        }
    }
}

extension Duration {
    /// So many columns of a drawing.
    static func columns(_ count: Int) -> Duration { Marbles.column * count }
}
