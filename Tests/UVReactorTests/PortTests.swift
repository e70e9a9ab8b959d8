import Foundation
import Promises
import Reactor
import Synchronization
import Testing
import UVReactor

@Suite struct PortTests {
    @Test func aLetterFromAnotherThreadIsReadOnTheLoops() throws {
        try onLoop { loop in
            let home = pthread_self()
            let port = loop.port
            #expect(port.isCurrent)
            let writer = TestThread {
                #expect(!port.isCurrent)
                port.post { loop in
                    #expect(port.isCurrent && pthread_equal(home, pthread_self()) != 0)
                    loop.stop()
                }
            }
            writer.join()
        }
    }

    @Test func aLetterFromTheLoopsOwnThreadIsReadLater() throws {
        let order = Mutex<[String]>([])
        try onLoop { loop in
            loop.timer(after: .zero) {
                loop.port.post { loop in
                    order.withLock { $0.append("letter") }
                    loop.stop()
                }
                order.withLock { $0.append("callback") }
            }
        }
        #expect(order.withLock { $0 } == ["callback", "letter"])
    }

    /// Four threads write at once; each one's letters keep their order and none is lost.
    @Test func lettersOfOneThreadKeepTheirOrder() throws {
        var ending: TestThread?
        try onLoop { loop in
            loop.resident = Reader()
            let port = loop.port
            let writers = (0..<4).map { writer in
                TestThread {
                    for number in 0..<1000 { port.post { $0.reader?.read[writer].append(number) } }
                }
            }
            ending = TestThread {
                for writer in writers { writer.join() }
                port.post { loop in
                    #expect(loop.reader?.read == Array(repeating: Array(0..<1000), count: 4))
                    loop.stop()
                }
            }
        }
        ending?.join()
    }

    @Test func afterTheLoopsEndLettersAreRefused() throws {
        let port = Mutex<UVReactor.Port?>(nil)
        try onLoop { loop in
            port.withLock { $0 = loop.port }
            #expect(loop.port.post { $0.stop() })
        }
        let old = try #require(port.withLock { $0 })
        #expect(!old.isCurrent)
        #expect(!old.post { _ in Issue.record("the loop has ended") })
    }

    /// A promise that another thread fulfils, handled on the loop.
    @Test func aPromiseOfAnotherThreadIsHandledOnTheLoops() throws {
        try onLoop { loop in
            let home = pthread_self()
            let resolver = Resolver<Int>(on: loop.port)
            let promise = resolver.promise
            let shared = resolver.shared()
            let other = TestThread { shared.fulfill(42) }
            promise.on(loop.core).map { value in
                #expect(value == 42 && pthread_equal(home, pthread_self()) != 0)
                loop.stop()
            }.catch { _ in }
            other.join()
        }
    }
}

/// What four threads wrote, as it was read.
private final class Reader {
    var read: [[Int]] = Array(repeating: [], count: 4)
}

extension UVLoop {
    fileprivate var reader: Reader? { resident as? Reader }
}
