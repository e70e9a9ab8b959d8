import Foundation
import Promises
import Reactor
import Testing
import UVReactor

@Suite struct DescriptorTests {
    /// Without descriptors connections wait in the kernel's queue, the loop does not spin, and when
    /// there are some again the connections are served. In a process of its own, for it takes them
    /// all.
    @Test func aLoopWithoutDescriptorsRestsAndRecovers() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            try onLoop { loop in
                var accepted: [any ByteStream] = []
                let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                    accepted.append(stream)
                }
                listener.pause()
                loop.connect(to: listener.address).onValue { $0.close() }.catch { _ in }
                loop.timer(after: .milliseconds(50)) {
                    var hoard: [CInt] = []
                    while case let copy = dup(0), copy >= 0 { hoard.append(copy) }
                    #expect(errno == EMFILE)
                    listener.resume()
                    let start = clock()
                    loop.timer(after: .milliseconds(350)) {
                        let spent = Double(clock() - start) / Double(CLOCKS_PER_SEC)
                        #expect(spent < 0.05, "it spins: \(spent) s of CPU in 0.35 s")
                        #expect(accepted.isEmpty)
                        for descriptor in hoard { close(descriptor) }
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

    /// Each kind of handle says that there is no descriptor, instead of trapping.
    @Test func whatNeedsADescriptorFailsWithoutOne() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            try onLoop { loop in
                var hoard: [CInt] = []
                while case let copy = dup(0), copy >= 0 { hoard.append(copy) }
                #expect(throws: IOFailure.outOfDescriptors) {
                    _ = try loop.listen(on: .loopback, sharedPort: true) { _ in }
                }
                #expect(throws: IOFailure.outOfDescriptors) {
                    _ = try UVLoop.run { _ in }
                }
                loop.connect(to: .ip(.v4(0x7F00_0001), port: 9)).whenSettled { result in
                    #expect(throws: IOFailure.outOfDescriptors) { _ = try result.get() }
                    for descriptor in hoard { close(descriptor) }
                    loop.stop()
                }
            }
        }
    }
}
