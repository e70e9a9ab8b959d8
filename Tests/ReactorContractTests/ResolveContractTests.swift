import Basics
import Promises
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResolveContractTests {
    @Test(arguments: Conformer.loops, ["192.0.2.7", "2001:db8::7"])
    func addressResolvesToItself(_ conformer: Conformer, _ text: String) throws {
        try onLoop(conformer) { harness in
            outcome(of: harness.loop.resolve(text)) { result in
                #expect((try? result.get()) == IPAddress(text).map { [$0] })
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func localhostResolvesToLoopbackOncePerFamily(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            outcome(of: harness.loop.resolve("localhost")) { result in
                let addresses = (try? result.get()) ?? []
                #expect(!addresses.isEmpty)
                #expect(Set(addresses).isSubset(of: [.v4(0x7F00_0001), .v6(0, 1)]))
                #expect(Set(addresses).count == addresses.count)
                harness.finish()
            }
        }
    }

    /// RFC 6761 section 6.4: `invalid` never exists. There may be no name service.
    @Test(arguments: Conformer.loops)
    func unknownNameFails(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            outcome(of: harness.loop.resolve("unknown.invalid")) { result in
                let failure = failure(of: result)
                #expect(failure == .hostNotFound || failure == .nameServiceFailed)
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops, ["", "a\0b", String(repeating: "x.", count: 200)])
    func malformedNameFails(_ conformer: Conformer, _ name: String) throws {
        try onLoop(conformer) { harness in
            outcome(of: harness.loop.resolve(name)) { result in
                #expect(failure(of: result) != nil)
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func concurrentRequestsForANameShareTheResultAndOneMayCancel(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var results: [Int: String] = [:]
            // A name that no other test resolves, so that it is not cached; it need not exist.
            let promises = (1...4).map { _ in harness.loop.resolve("shared.localhost") }
            for (number, promise) in zip(1..., promises) {
                outcome(of: promise) { result in
                    switch result {
                    case .success: results[number] = "found"
                    case .failure(let error):
                        results[number] = error is Cancelled ? "cancelled" : "\(error)"
                    }
                    if results.count == 4 {
                        #expect(results[1] == "cancelled")
                        #expect(results[2] != "cancelled")
                        #expect(results[3] == results[2] && results[4] == results[2])
                        harness.finish()
                    }
                }
            }
            // The one that began the look-up: the others may have found its failure in the cache.
            promises[0].cancel()
        }
    }

    @Test(arguments: Conformer.loops)
    func cancelledLookUpEndsWithoutEffect(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            for number in 1...2 {
                // A name that nothing else resolves: another look-up of it may be complete, and cached.
                let promise = harness.loop.resolve("given-up-\(number).localhost")
                outcome(of: promise) { result in
                    #expect(throws: Cancelled.self) { try result.get() }
                }
                promise.cancel()
            }
            harness.later { harness.finish() }
        }
    }
}
