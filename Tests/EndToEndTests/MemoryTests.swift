import Foundation
import Testing

extension EndToEnd {
    @Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/smaps")))
    struct MemoryTests {
        /// Soon after the start and after a reload, less of the program's file is resident than before.
        @Test func codeOfTheStartAndOfAReloadLeavesTheMemory() throws {
            let folder = try Folder()
            // Otherwise only root can read the list of its memory.
            let daemon = try Daemon.servingUnix(
                plain(try Backend()), in: folder, environment: ["TRIBUTARY_CORE_DUMPS": "1"])
            try awaitFall(of: daemon)
            daemon.signal(SIGHUP)
            try daemon.logLine("configuration reloaded")
            try awaitFall(of: daemon)
        }

        private func awaitFall(of daemon: Daemon) throws {
            let limit = Limit.date
            var most = 0
            while true {
                let resident = try residentKilobytesOfCode(of: daemon)
                most = max(most, resident)
                if resident < most * 3 / 4 { return }
                guard Date.now < limit else { throw Limit.Passed("less than \(most) kB of code") }
                sched_yield()
            }
        }

        private func residentKilobytesOfCode(of daemon: Daemon) throws -> Int {
            let program = try Binary.url().resolvingSymlinksInPath().path
            // The kernel passes a page at a time, of which `String(contentsOfFile:)` reads one: under a
            // sanitizer, the program's code is not in it.
            let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(daemon.id)/smaps"))
            let list = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            var isCode = false
            var sum = 0
            for line in list.split(separator: "\n") {
                if line.contains(" r-xp ") || line.contains(" rw-p ") || line.contains(" r--p ") {
                    isCode = line.contains(" r-xp ") && line.hasSuffix(program)
                } else if isCode, line.hasPrefix("Rss:") {
                    sum += Int(line.split(separator: " ")[1]) ?? 0
                }
            }
            return sum
        }
    }
}
