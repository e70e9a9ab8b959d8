import Basics
import Testing

@Suite struct LogQueueTests {
    /// Takes everything, like a writer that is never blocked.
    private func drain(_ queue: inout LogQueue) -> (text: String, linesLost: [Int]) {
        var (text, linesLost) = ("", [Int]())
        while let batch = queue.take() {
            text += String(decoding: batch.lines, as: UTF8.self)
            linesLost.append(batch.linesLost)
        }
        return (text, linesLost)
    }

    private func lines(_ numbers: some Sequence<Int>) -> String {
        numbers.map { "line \($0)\n" }.joined()
    }

    @Test func keepsEveryLineInOrderBelowTheBound() {
        var queue = LogQueue(bytesMax: 1 << 20, chunkBytes: 100)
        for number in 0..<1000 { queue.append(Array("line \(number)\n".utf8)) }
        let (text, linesLost) = drain(&queue)
        #expect(text == lines(0..<1000))
        #expect(linesLost.allSatisfy { $0 == 0 } && queue.linesDropped == 0)
        #expect(queue.isEmpty && queue.bytes == 0)
    }

    @Test func aBatchHoldsWholeLinesOfOneChunk() {
        var queue = LogQueue(bytesMax: 1 << 20, chunkBytes: 16)
        queue.append(Array(lines(1...5).utf8))
        var batches: [String] = []
        while let batch = queue.take() {
            batches.append(String(decoding: batch.lines, as: UTF8.self))
        }
        #expect(batches == [lines(1...2), lines(3...4), lines(5...5)])
    }

    @Test func dropsTheOldestLinesBeyondTheBoundAndCountsThem() {
        var queue = LogQueue(bytesMax: 70, chunkBytes: 32)
        for number in 0..<100 {
            queue.append(Array("line \(number)\n".utf8))
            #expect(queue.bytes <= 70)
        }
        #expect(queue.linesDropped == 92)
        let (text, linesLost) = drain(&queue)
        #expect(text == lines(92..<100), "the newest lines that fit")
        #expect(linesLost.reduce(0, +) == 92 && linesLost.first == 92, "reported once, in place")
    }

    @Test func dropsNoMoreLinesThanNecessary() {
        var queue = LogQueue(bytesMax: 21, chunkBytes: 1000)
        queue.append(Array(lines(1...3).utf8))
        #expect(queue.linesDropped == 0)
        queue.append(Array("x\n".utf8))
        #expect(queue.linesDropped == 1)
        #expect(drain(&queue).text == lines(2...3) + "x\n")
    }

    @Test func holds8MiBWithoutAnotherBound() {
        var queue = LogQueue()
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1023) + [UInt8(ascii: "\n")]
        for _ in 0..<8192 { queue.append(line) }
        #expect(queue.bytes == 8 * 1024 * 1024 && queue.linesDropped == 0)
        queue.append(line)
        #expect(queue.linesDropped == 1)
    }

    @Test func aLineLongerThanTheBoundIsDropped() {
        var queue = LogQueue(bytesMax: 30, chunkBytes: 16)
        queue.append(Array(("before\n" + String(repeating: "y", count: 100) + "\n").utf8))
        #expect(queue.linesDropped == 2 && queue.isEmpty && queue.bytes == 0)
        queue.append(Array("after\n".utf8))
        let (text, linesLost) = drain(&queue)
        #expect(text == "after\n" && linesLost == [2])
    }

    @Test func aLineLongerThanAChunkStaysWhole() {
        let long = String(repeating: "y", count: 100) + "\n"
        var queue = LogQueue(bytesMax: 1000, chunkBytes: 16)
        queue.append(Array("a\n\(long)b\n".utf8))
        #expect(drain(&queue).text == "a\n\(long)b\n")
        #expect(queue.linesDropped == 0)
    }

    @Test func linesTakenBeforeTheOverflowAreNotDropped() throws {
        var queue = LogQueue(bytesMax: 14, chunkBytes: 14)
        queue.append(Array(lines(1...2).utf8))
        let first = queue.take()
        let taken = try #require(first)
        queue.append(Array(lines(3...6).utf8))
        #expect(String(decoding: taken.lines, as: UTF8.self) == lines(1...2))
        #expect(taken.linesLost == 0)
        #expect(queue.linesDropped == 2)
        let second = queue.take()
        let next = try #require(second)
        #expect(next.linesLost == 2 && String(decoding: next.lines, as: UTF8.self) == lines(5...6))
    }

    @Test func aFailedWriteCountsItsUnwrittenLines() throws {
        var queue = LogQueue()
        queue.append(Array(lines(1...3).utf8))
        let first = queue.take()
        let batch = try #require(first)
        queue.recordFailure(of: batch, written: 10, isLossReported: true)
        #expect(queue.linesDropped == 2, "the first line left whole, the second one in part")
        queue.append(Array("next\n".utf8))
        let later = queue.take()
        #expect(later?.linesLost == 2)
    }

    @Test func aLossThatCouldNotBeReportedIsReportedLater() throws {
        var queue = LogQueue(bytesMax: 14, chunkBytes: 14)
        queue.append(Array(lines(1...3).utf8))
        let first = queue.take()
        let batch = try #require(first)
        #expect(batch.linesLost == 1)
        queue.recordFailure(of: batch, written: 0, isLossReported: false)
        queue.append(Array("next\n".utf8))
        let later = queue.take()
        #expect(later?.linesLost == 2)
        #expect(queue.linesDropped == 2)
    }

    /// Written and dropped lines add up, for all sizes.
    @Test(arguments: [1, 7, 64, 1000]) func noLineIsCountedTwice(_ chunkBytes: Int) {
        var queue = LogQueue(bytesMax: 500, chunkBytes: chunkBytes)
        var (appended, written, reported) = (0, 0, 0)
        for round in 0..<300 {
            let count = round % 13
            queue.append(Array(lines(appended..<appended + count).utf8))
            appended += count
            guard round % 5 == 0, let batch = queue.take() else { continue }
            written += batch.lines.count { $0 == UInt8(ascii: "\n") }
            reported += batch.linesLost
        }
        while let batch = queue.take() {
            written += batch.lines.count { $0 == UInt8(ascii: "\n") }
            reported += batch.linesLost
        }
        #expect(written + queue.linesDropped == appended)
        #expect(reported == queue.linesDropped)
    }

    /// Lines of a little more than half a chunk leave the rest of each chunk unused.
    @Test func theBoundHoldsForMemoryThatLinesLeaveUnused() {
        var queue = LogQueue(bytesMax: 1_000, chunkBytes: 100)
        let line = Array(repeating: UInt8(ascii: "x"), count: 59) + [UInt8(ascii: "\n")]
        for _ in 0..<50 { queue.append(line) }
        // Eleven chunks of one line each.
        #expect(queue.bytes == 660)
        #expect(queue.linesDropped == 39)
        var batches = 0
        while queue.take() != nil { batches += 1 }
        #expect(batches == 11)
        queue.append(line)
        #expect(queue.bytes == 60 && queue.linesDropped == 39)
    }
}
