import Basics
import Reactor
import Testing

/// The name table as a plain value.
@Suite struct NameTableTests {
    private final class Loop {}

    private let start = Instant(nanoseconds: 1_000_000_000_000)
    private let one: [IPAddress] = [.v4(1)]
    private let two: [IPAddress] = [.v4(2)]
    private let loop = Loop()

    /// A table with references to names.
    private func table(_ names: String..., running: Int = 64) -> NameTable<Loop> {
        var settings = NameSettings()
        settings.runningMax = running
        var table = NameTable<Loop>(settings)
        for name in names { table.retain(name) }
        return table
    }

    /// A request of `loop` for addresses of less than 30 seconds.
    private func request(
        _ table: inout NameTable<Loop>, _ name: String, at second: Double, maxAge: Int = 30
    ) -> (result: NameRequestResult, mustStart: Bool) {
        table.request(name, maxAge: .seconds(maxAge), for: loop, at: start + .seconds(second))
    }

    /// A table that resolved "a" to `one` at second 0.
    private func resolvedTable() -> NameTable<Loop> {
        var table = table("a")
        _ = request(&table, "a", at: 0)
        _ = table.finishLookUp("a", .success(one), at: start)
        return table
    }

    @Test func startsOneLookUpForAllLoops() {
        var table = table("a")
        let other = Loop()
        #expect(request(&table, "a", at: 0) == (.pending(cached: [], since: start), true))
        #expect(request(&table, "a", at: 20) == (.pending(cached: [], since: start), false))
        _ = table.request("a", maxAge: .zero, for: other, at: start)
        let publication = table.finishLookUp("a", .success(one), at: start + .seconds(20))
        #expect(publication.result == .success(one))
        #expect(publication.subscribers.map { $0 === loop } == [true, false], "each of them once")
        #expect(request(&table, "a", at: 21) == (.addresses(one), false))
    }

    @Test func looksUpAgainWhenAddressesHaveExpired() {
        var table = resolvedTable()
        #expect(request(&table, "a", at: 29.9) == (.addresses(one), false))
        #expect(
            request(&table, "a", at: 30)
                == (.pending(cached: one, since: start + .seconds(30)), true))
        #expect(
            table.finishLookUp("a", .success(two), at: start + .seconds(31)).result == .success(two)
        )
        #expect(request(&table, "a", at: 32) == (.addresses(two), false))
    }

    @Test func refreshPublishesToNoLoop() {
        var table = resolvedTable()
        let (_, mustStart) = table.request(
            "a", maxAge: .seconds(15), for: nil, at: start + .seconds(20))
        #expect(mustStart)
        #expect(request(&table, "a", at: 21) == (.addresses(one), false), "not expired yet")
        #expect(
            table.finishLookUp("a", .success(two), at: start + .seconds(22)).subscribers.isEmpty)
        #expect(request(&table, "a", at: 51) == (.addresses(two), false))
    }

    @Test func keepsAddressesWhileNameServiceFails() {
        var table = resolvedTable()
        _ = request(&table, "a", at: 40)
        let publication = table.finishLookUp(
            "a", .failure(.nameServiceFailed), at: start + .seconds(40))
        #expect(publication.result == .success(one))
        #expect(request(&table, "a", at: 40.9) == (.addresses(one), false), "no look-up for 1 s")
        #expect(
            request(&table, "a", at: 41)
                == (.pending(cached: one, since: start + .seconds(41)), true))
    }

    @Test(arguments: [
        Result<[IPAddress], IOFailure>.failure(.hostNotFound), .success([]),
    ])
    func removesAddressesOfNameThatDoesNotExist(result: Result<[IPAddress], IOFailure>) {
        var table = resolvedTable()
        _ = request(&table, "a", at: 40)
        #expect(
            table.finishLookUp("a", result, at: start + .seconds(40)).result
                == .failure(.hostNotFound))
        #expect(request(&table, "a", at: 42.9) == (.failed(.hostNotFound), false))
        #expect(
            request(&table, "a", at: 43)
                == (.pending(cached: [], since: start + .seconds(43)), true))
    }

    @Test func remembersFailureOfNameWithoutAddressesForASecond() {
        var table = table("a")
        _ = request(&table, "a", at: 0)
        _ = table.finishLookUp("a", .failure(.nameServiceFailed), at: start)
        #expect(request(&table, "a", at: 0.9) == (.failed(.nameServiceFailed), false))
        #expect(request(&table, "a", at: 1).mustStart)
    }

    @Test func looksUpUnreachableAddressesAtMostOnceASecond() {
        var table = resolvedTable()
        table.markUnreachable("a", at: start + .seconds(2))
        #expect(request(&table, "a", at: 2).mustStart)
        _ = table.finishLookUp("a", .success(one), at: start + .seconds(2))
        for second in [2.5, 2.95] {
            table.markUnreachable("a", at: start + .seconds(second))
            #expect(request(&table, "a", at: second) == (.addresses(one), false))
        }
        table.markUnreachable("a", at: start + .seconds(3))
        #expect(request(&table, "a", at: 3).mustStart)
    }

    @Test func queuesNamesAboveTheLimitInOrder() {
        var table = table("a", "b", "c", "d", running: 2)
        let starts = ["a", "b", "c", "d"].map { request(&table, $0, at: 0).mustStart }
        #expect(starts == [true, true, false, false])
        #expect(!request(&table, "c", at: 1).mustStart, "it is in the queue already")
        table.release("c")
        #expect(table.count == 3, "an unreferenced queued name is dropped")
        #expect(table.finishLookUp("a", .success(one), at: start).nextHost == "d")
        #expect(table.finishLookUp("b", .success(one), at: start).nextHost == nil)
        #expect(table.finishLookUp("d", .success(one), at: start).nextHost == nil)
    }

    @Test func runs64LookUpsAtATime() {
        var table = NameTable<Loop>(NameSettings())
        let names = (0..<70).map { "name\($0)" }
        for name in names { table.retain(name) }
        #expect(names.count { request(&table, $0, at: 0).mustStart } == 64)
    }

    @Test func dropsUnreferencedNames() {
        var table = resolvedTable()
        table.retain("a")
        table.release("a")
        #expect(request(&table, "a", at: 1) == (.addresses(one), false), "still held once")
        table.release("a")
        #expect(table.count == 0)
    }

    @Test func neverStartsSecondLookUpBesideOneThatHangs() {
        var table = table("a")
        _ = request(&table, "a", at: 0)
        table.release("a")
        #expect(table.count == 1, "its look-up still runs")
        table.retain("a")
        #expect(request(&table, "a", at: 500) == (.pending(cached: [], since: start), false))
        table.release("a")
        _ = table.finishLookUp("a", .failure(.nameServiceFailed), at: start + .seconds(600))
        #expect(table.count == 0)
    }
}
