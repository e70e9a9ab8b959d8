import Reactor

/// Collects the log lines of all workers.
package final class LogJournal: MessageReceiver {
    private var text: [UInt8] = []

    package init() {}

    package func receive(_ message: [UInt8]) { text += message }

    package var lines: [Tree] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { Tree(reading: Array($0)) }
    }
}
