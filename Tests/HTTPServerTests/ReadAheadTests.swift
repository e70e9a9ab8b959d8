import Basics
import Testing

@testable import HTTPServer

/// The stored bytes of a client that sends ahead.
@Suite struct ReadAheadTests {
    @Test func storesOnlyUnreadBytesHoweverLongTheClientStaysAhead() {
        var ahead = ReadAhead()
        let piece = [UInt8](repeating: 97, count: 1000)
        ahead.append(piece.span)
        for _ in 0..<1000 {
            ahead.append(piece.span)
            ahead.removeFirst(1000)
            #expect(ahead.count == 1000)
        }
        #expect(ahead.memoryBytes <= 3000)
    }

    @Test func keepsTheOrderOfUnreadBytes() {
        var ahead = ReadAhead()
        var taken: [UInt8] = []
        for number in 0..<100 {
            let piece = [UInt8](repeating: UInt8(number), count: number)
            ahead.append(piece.span)
            let some = min(ahead.count, 37)
            taken.append(copying: ahead.bytes.span.extracting(0..<some))
            ahead.removeFirst(some)
        }
        taken.append(copying: ahead.bytes.span)
        #expect(taken == (0..<100).flatMap { [UInt8](repeating: UInt8($0), count: $0) })
    }

    @Test func isEmptyAfterRemovingMoreThanItHolds() {
        var ahead = ReadAhead()
        ahead.append([1, 2, 3].span)
        ahead.removeFirst(5)
        #expect(ahead.isEmpty && ahead.bytes.isEmpty)
    }
}
