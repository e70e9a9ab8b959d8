import Foundation
import Promises
import Reactor
import Testing
import UVReactor

@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
    /// Without descriptors, connections wait in the kernel's queue and the loop does not spin; when
    /// there are some again, the connections are served. In a process of its own, since the limit is
    /// the limit of a process.
    @Test func loopWithoutDescriptorsSuspendsAcceptingAndRecovers() async {
        await #expect(processExitsWith: .success) {
            try onLoop { loop in
                var accepted: [any ByteStream] = []
                let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                    accepted.append(stream)
                }
                listener.pause()
                loop.connect(to: listener.address).onValue { $0.close() }.catch { _ in }
                loop.timer(after: .milliseconds(50)) {
                    let former = limitDescriptors(to: 0)
                    #expect(dup(0) == -1 && errno == EMFILE)
                    listener.resume()
                    let start = clock()
                    loop.timer(after: .milliseconds(350)) {
                        let spent = Double(clock() - start) / Double(CLOCKS_PER_SEC)
                        #expect(spent < 0.05, "it spins: \(spent) s of CPU in 0.35 s")
                        #expect(accepted.isEmpty)
                        limitDescriptors(to: former)
                        loop.timer(after: .milliseconds(250)) {
                            #expect(accepted.count == 1)
                            for stream in accepted { stream.close() }
                            listener.close()
                            loop.stop()
                        }
                    }
                }
            }
        }
    }

    /// Each kind of handle reports the lack of descriptors instead of trapping.
    @Test func everyHandleFailsWithoutADescriptor() async {
        await #expect(processExitsWith: .success) {
            try onLoop { loop in
                // Not by using all up: another thread may close one.
                let former = limitDescriptors(to: 0)
                #expect(throws: IOFailure.outOfDescriptors) {
                    _ = try loop.listen(on: .loopback, sharedPort: true) { _ in }
                }
                #expect(throws: IOFailure.outOfDescriptors) {
                    _ = try UVLoop.run { _ in }
                }
                loop.connect(to: .ip(.v4(0x7F00_0001), port: 9)).whenSettled { result in
                    #expect(throws: IOFailure.outOfDescriptors) { _ = try result.get() }
                    limitDescriptors(to: former)
                    loop.stop()
                }
            }
        }
    }

    /// At its ceiling a listener accepts one more connection and pauses; it resumes when a number
    /// below the ceiling is free.
    @Test func listenerPausesAtItsCeilingAndResumes() async {
        await #expect(processExitsWith: .success) {
            try onLoop { loop in
                var accepted: [any ByteStream] = []
                var clients: [any ByteStream] = []
                let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                    accepted.append(stream)
                }
                listener.pause()
                for _ in 0..<3 {
                    loop.connect(to: listener.address).onValue { clients.append($0) }.catch { _ in }
                }
                loop.timer(after: .milliseconds(50)) {
                    #expect(clients.count == 3)
                    loop.descriptors.acceptCeiling = lowestFreeNumber() + 1
                    listener.resume()
                    loop.timer(after: .milliseconds(350)) {
                        #expect(accepted.count == 2)
                        #expect(loop.descriptors.shortages.accepts == 1)
                        accepted.removeFirst().close()
                        loop.timer(after: .milliseconds(250)) {
                            #expect(accepted.count == 2)
                            #expect(loop.descriptors.shortages.accepts == 1)
                            for stream in accepted + clients { stream.close() }
                            listener.close()
                            loop.stop()
                        }
                    }
                }
            }
        }
    }

    /// A closing listener accepts no more connections than there are descriptors.
    @Test func closingListenerStopsAtItsCeiling() async {
        await #expect(processExitsWith: .success) {
            try onLoop { loop in
                var accepted: [any ByteStream] = []
                let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                    accepted.append(stream)
                }
                listener.pause()
                var clients: [any ByteStream] = []
                for _ in 0..<3 {
                    loop.connect(to: listener.address).onValue { clients.append($0) }.catch { _ in }
                }
                loop.timer(after: .milliseconds(50)) {
                    loop.descriptors.acceptCeiling = lowestFreeNumber() + 1
                    listener.close()
                    #expect(accepted.count == 2)
                    for stream in accepted + clients { stream.close() }
                    loop.stop()
                }
            }
        }
    }

    @Test(arguments: [false, true]) func opensNoConnectionAtTheCeiling(_ isUnix: Bool) async {
        await #expect(processExitsWith: .success) { [isUnix] in
            try onLoop { loop in
                let listener = try loop.listen(
                    on: isUnix ? .temporary("ceiling") : .loopback, sharedPort: false
                ) { $0.close() }
                loop.descriptors.connectCeiling = lowestFreeNumber()
                loop.connect(to: listener.address).whenSettled { result in
                    #expect(throws: IOFailure.outOfDescriptors) { _ = try result.get() }
                    #expect(loop.descriptors.shortages.connects == 1)
                    // The test library may have opened a descriptor meanwhile.
                    loop.descriptors.connectCeiling = lowestFreeNumber() + 1
                    loop.connect(to: listener.address).whenSettled { result in
                        #expect(throws: Never.self) { try result.get().close() }
                        #expect(loop.descriptors.shortages.connects == 1)
                        listener.close()
                        loop.stop()
                    }
                }
            }
        }
    }
}

private func lowestFreeNumber() -> Int {
    let copy = dup(0)
    close(copy)
    return Int(copy)
}

/// Sets how many descriptors the process may open; returns the former limit.
@discardableResult
private func limitDescriptors(to count: rlim_t) -> rlim_t {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    getrlimit(resource, &limit)
    let former = limit.rlim_cur
    limit.rlim_cur = count
    setrlimit(resource, &limit)
    return former
}
