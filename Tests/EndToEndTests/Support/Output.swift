import Foundation

/// What a process writes, gathered on a thread of its own.
final class Output: @unchecked Sendable {
    // Guarded by `changed`.
    private var bytes = Data()
    private var isAtEnd = false
    private let changed = NSCondition()

    let pipe = Pipe()

    init() {
        let reading = pipe.fileHandleForReading
        Thread.detachNewThread { [self] in
            while true {
                let chunk = reading.availableData
                changed.withLock {
                    bytes += chunk
                    isAtEnd = chunk.isEmpty
                    changed.broadcast()
                }
                if chunk.isEmpty { return }
            }
        }
    }

    /// Everything up to now.
    var text: String { changed.withLock { String(decoding: bytes, as: UTF8.self) } }

    /// Everything, when the writer has ended.
    func whole() throws -> String {
        try wait(for: "the end of an output") { _, isAtEnd in isAtEnd }
        return text
    }

    /// The first whole line for which `isIt` is true, or the one with such a number among them.
    func line(_ what: String, number: Int = 1, where isIt: (String) -> Bool) throws -> String {
        var found: String?
        try wait(for: what) { bytes, isAtEnd in
            let lines = String(decoding: bytes, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            found = lines.dropLast(1).map(String.init).filter(isIt).dropFirst(number - 1).first
            return found != nil || isAtEnd
        }
        guard let found else { throw Limit.Passed("\(what), and the output ended: \(text)") }
        return found
    }

    private func wait(for what: String, until isThere: (Data, Bool) -> Bool) throws {
        let limit = Limit.date
        changed.lock()
        defer { changed.unlock() }
        while !isThere(bytes, isAtEnd) {
            guard changed.wait(until: limit) else { throw Limit.Passed(what) }
        }
    }
}
