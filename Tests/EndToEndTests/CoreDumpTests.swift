import Foundation
import Testing

extension EndToEnd {
    /// A core dump would have secrets: the process forbids it, unless its environment permits it.
    @Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits")))
    struct CoreDumpTests {
        @Test(arguments: [false, true]) func onlyTheEnvironmentPermitsCoreDumps(
            _ isPermitted: Bool
        ) throws {
            let folder = try Folder()
            let daemon = try Daemon.servingUnix(
                plain(try Backend()), in: folder,
                environment: isPermitted ? ["TRIBUTARY_CORE_DUMPS": "1"] : [:])
            // The files of a process that cannot be dumped belong to root (proc(5)).
            let attributes = try FileManager.default.attributesOfItem(
                atPath: "/proc/\(daemon.id)/environ")
            let belongsToRoot = attributes[.ownerAccountID] as? UInt32 == 0
            #expect(belongsToRoot != isPermitted || getuid() == 0)
            let limits = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(daemon.id)/limits"))
            let text = String(decoding: try limits.readToEnd() ?? Data(), as: UTF8.self)
            let line = try #require(
                text.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
            let own = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/limits"))
            let ownText = String(decoding: try own.readToEnd() ?? Data(), as: UTF8.self)
            #expect(
                isPermitted
                    ? ownText.contains(line)
                    : line.split(separator: " ")[4...5].elementsEqual(["0", "0"]))
        }
    }
}
