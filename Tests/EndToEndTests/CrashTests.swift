import Foundation
import Testing

extension EndToEnd {
    /// A crash leaves a line of addresses, of which `deploy/symbols` makes a backtrace. A sanitizer
    /// reports crashes itself.
    @Suite(
        .enabled(if: Sanitizer.options.isEmpty),
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/auxv")))
    struct CrashTests {
        @Test(arguments: [(SIGSEGV, "SIGSEGV"), (SIGILL, "SIGILL"), (SIGBUS, "SIGBUS")])
        func writesItsAddressesAndEndsByTheSignal(number: Int32, name: String) throws {
            let daemon = try Daemon.servingUnix(
                plain(try Backend()), in: try Folder(),
                environment: ["SWIFT_BACKTRACE": "enable=no"])
            daemon.signal(number)
            #expect(try daemon.exitStatus() == -number)
            let errors = try daemon.errors.whole()
            let line = try #require(errors.split(separator: "\n").last)
            #expect(
                line.wholeMatch(
                    of: /tributary: crash by ([A-Z]+), build [0-9a-f]{40}, at( \?| 0x[0-9a-f]+)+/)?
                    .output.1 == Substring(name), "\(errors)")
        }
    }
}
