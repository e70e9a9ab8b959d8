import Dispatch
import Promises
import Reactor
import Testing

@testable import UVReactor

/// Look-ups on threads, shared by the loops of one process.
@Suite(.timeLimit(.minutes(5))) struct NameServiceTests {
    /// A name service that does not complete names with the prefix "hang" before `release`.
    private final class HangingService: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let hosts = Guarded<[String]>([])
        private let ended = DispatchSemaphore(value: 0)

        var lookedUp: [String] { hosts.withLock { $0 } }

        func lookUp(_ host: String) -> Result<[IPAddress], IOFailure> {
            hosts.withLock { $0.append(host) }
            guard host.hasPrefix("hang") else { return .success([.v4(1)]) }
            gate.wait()
            ended.signal()
            return .failure(.nameServiceFailed)
        }

        func release(_ count: Int) {
            for _ in 0..<count { gate.signal() }
            for _ in 0..<count { ended.wait() }
        }
    }

    @Test func hangingLookUpsDelayNeitherOthersNorTheEndOfTheLoop() throws {
        let system = HangingService()
        let service = NameService(lookUp: system.lookUp)
        var found: [IPAddress] = []
        var cancelled = 0
        let left = try UVLoop.run(names: service) { loop in
            for number in 0..<40 {
                loop.resolve("hang\(number)").whenSettled { result in
                    if case .failure(let error as IOFailure) = result, error == .cancelled {
                        cancelled += 1
                    }
                }
            }
            loop.resolve("alive").whenSettled { result in
                found = (try? result.get()) ?? []
                loop.stop()
            }
        }
        #expect(found == [.v4(1)])
        #expect(cancelled == 40, "the loop ended while 40 look-ups were running")
        #expect(left == [])
        system.release(40)
    }

    @Test func loopsOfOneProcessShareLookUps() throws {
        let system = HangingService()
        let service = NameService(lookUp: system.lookUp)
        var result: [String] = []
        _ = try UVLoop.run(names: service) { first in
            guard let names = first.names else { return first.stop() }
            let name = names.cachedName("alive")
            name.addresses(maxAge: .seconds(30), waitMax: nil).whenSettled { _ in
                let other = Thread(service)
                #expect(other.addresses == [.v4(1)])
                result = system.lookedUp
                withExtendedLifetime(name) {}
                first.stop()
            }
        }
        #expect(result == ["alive"], "the second loop used what the first had learned")
        #expect(service.count == 0, "a name that nothing uses is dropped")
    }

    /// Another loop of the same process, on its own thread, which resolves "alive".
    private final class Thread {
        let addresses: [IPAddress]

        init(_ service: NameService) {
            let result = Guarded<[IPAddress]>([])
            let end = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                _ = try? UVLoop.run(names: service) { loop in
                    let name = loop.names?.cachedName("alive")
                    name?.addresses(maxAge: .seconds(30), waitMax: nil).whenSettled { found in
                        result.withLock { $0 = (try? found.get()) ?? [] }
                        withExtendedLifetime(name) {}
                        loop.stop()
                    }
                }
                end.signal()
            }
            end.wait()
            addresses = result.withLock { $0 }
        }
    }

    @Test(arguments: ["", "a\0b", String(repeating: "x.", count: 200)])
    func malformedNameHasNoAddress(_ name: String) {
        guard case .failure = NameLookUp.system(name) else {
            Issue.record("\(name) has an address")
            return
        }
    }

    @Test func nameOfThisMachineHasAnAddress() {
        guard case .success(let addresses) = NameLookUp.system("localhost") else {
            Issue.record("no address")
            return
        }
        #expect(!addresses.isEmpty)
        #expect(Set(addresses).isSubset(of: [.v4(0x7F00_0001), .v6(0, 1)]))
    }
}
