import Promises
import Testing

/// The code of the page about contexts.
@Suite(.timeLimit(.minutes(5))) struct ContextExamples {
    @MainActor final class Label {
        var text = ""
        nonisolated init() {}
    }

    @Test func blockingWork() async throws {
        @Sendable func blockingRead(_ name: String) -> String { name + name }
        // snippet: blocking
        let total = Promise(on: .blocking) { blockingRead("a") }  // on a thread that may block
            .adding { first in Promise(on: .blocking) { blockingRead(first + "b") } }
            .hop(to: SharedPool.shared)  // the following handlers do not block
            .map { first, second in first.count + second.count }
        // end
        #expect(try await total.get() == 8)
    }

    @Test func theMainActor() async {
        let label = Label()
        // snippet: main actor
        let shown = Promise.value("Ada").onMainActor
            .done { name in label.text = name }  // isolated: no await
            .catch { error in label.text = "\(error)" }
        // end
        await shown.get()
        #expect(await label.text == "Ada")
    }

    // snippet: module name
    struct Laps {
        func race(_ count: Int) -> Int { count }

        func fastest(_ first: Promise<Int>, _ second: Promise<Int>) -> Promise<Int> {
            Promises.race(first, second)
        }
    }
    // end

    @Test func moduleNameQualifiesAHiddenFunction() async throws {
        #expect(try await Laps().fastest(.value(1), .never()).get() == 1)
    }
}
