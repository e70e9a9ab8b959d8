import Foundation

/// The output of a process, collected on a separate thread.
final class Output: @unchecked Sendable {
    // Guarded by `changed`.
    private var lines: [String] = []
    private var lastLine = Data()
    private var isAtEnd = false
    private let changed = NSCondition()

    let pipe = Pipe()

    /// - Parameter isRead: false for a pipe that fills until `startReading`
    init(isRead: Bool = true) {
        if isRead { startReading() }
    }

    /// Writes until the pipe has no space left.
    func fill() {
        let writing = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(writing, F_GETFL)
        _ = fcntl(writing, F_SETFL, flags | O_NONBLOCK)
        for piece in [[UInt8](repeating: 0x2E, count: 4096), [0x2E]] {
            while unsafe write(writing, piece, piece.count) > 0 {}
        }
        _ = fcntl(writing, F_SETFL, flags)
    }

    /// Starts to read the pending and all later output.
    func startReading() {
        let reading = pipe.fileHandleForReading
        Thread.detachNewThread { [self] in
            while true {
                let chunk = reading.availableData
                changed.withLock { take(chunk) }
                if chunk.isEmpty { return }
            }
        }
    }

    private func take(_ chunk: Data) {
        var parts = chunk.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[
            ...]
        if let first = parts.popFirst() { lastLine += first }
        for part in parts {
            lines.append(String(decoding: lastLine, as: UTF8.self))
            lastLine = Data(part)
        }
        isAtEnd = chunk.isEmpty
        changed.broadcast()
    }

    /// The output so far.
    var text: String {
        changed.withLock {
            lines.map { $0 + "\n" }.joined() + String(decoding: lastLine, as: UTF8.self)
        }
    }

    /// The whole output, after the writer has ended.
    func whole() throws -> String {
        try wait(for: "the end of an output") { isAtEnd }
        return text
    }

    /// The first whole line for which `isIt` is true, or the one with this number among them.
    func line(_ what: String, number: Int = 1, where isIt: (String) -> Bool) throws -> String {
        var (scanned, count) = (0, 0)
        var found: String?
        try wait(for: what) {
            while found == nil, scanned < lines.count {
                if isIt(lines[scanned]) { count += 1 }
                if count == number { found = lines[scanned] }
                scanned += 1
            }
            return found != nil || isAtEnd
        }
        guard let found else { throw Limit.Passed("\(what), and the output ended: \(text)") }
        return found
    }

    private func wait(for what: String, until isThere: () -> Bool) throws {
        let limit = Limit.date
        changed.lock()
        defer { changed.unlock() }
        while !isThere() {
            guard changed.wait(until: limit) else { throw Limit.Passed(what) }
        }
    }
}
