import Testing

/// Text that the sources must not contain, with the reason; only `System`, `UVReactor`,
/// `Process` and `tributary` access the system.
@Suite struct BannedTests {
    struct Ban: CustomTestStringConvertible, Sendable {
        let text: String
        let why: String
        var except: Set<String> = []

        var testDescription: String { text }
    }

    static let bans: [Ban] = [
        Ban(text: "try!", why: "a trap that input can reach"),
        Ban(text: "as!", why: "a trap that input can reach"),
        Ban(text: "fatalError(", why: "a trap instead of an error"),
        Ban(
            text: "SystemRandomNumberGenerator", why: "random numbers come from the loop",
            except: ["System"]),
        Ban(text: ".random(in:", why: "random numbers come from the loop"),
        Ban(text: ".randomElement()", why: "random numbers come from the loop"),
        Ban(text: ".shuffled()", why: "random numbers come from the loop"),
        Ban(text: "ContinuousClock", why: "time comes from the loop"),
        Ban(text: "SuspendingClock", why: "time comes from the loop"),
        // Promises: a thread that blocks in `wait` has no loop, and neither has a context on
        // foreign threads.
        Ban(
            text: "clock_gettime", why: "time comes from the loop",
            except: ["Promises"]),
        Ban(text: "getenv", why: "the environment is a parameter", except: ["System"]),
        Ban(text: "Task {", why: "nothing leaves its worker", except: ["Promises"]),
        Ban(
            text: "Mutex<",
            why: "Guarded instead: ThreadSanitizer does not see the standard library's"),
        Ban(
            text: "Mutex(",
            why: "Guarded instead: ThreadSanitizer does not see the standard library's"),
        Ban(text: "usleep(", why: "nothing blocks a loop"),
        Ban(text: "TODO", why: "open ends are issues, not comments"),
        Ban(text: "FIXME", why: "open ends are issues, not comments"),
    ]

    /// Swift 6.3.1 compares the values as signed.
    @Test func minAndMaxOfAtomicsAreNotUsed() throws {
        for file in try Sources.all() {
            for (number, line) in file.code
            where line.contains("ordering:") && line.contains(/\.(min|max)\(.*ordering:/) {
                Issue.record("\(file):\(number): compareExchange instead of min and max: \(line)")
            }
        }
    }

    @Test(arguments: bans) func bannedTextIsNotInTheSources(_ ban: Ban) throws {
        for file in try Sources.all() where !ban.except.contains(file.target) {
            for (number, line) in file.code where line.contains(ban.text) {
                Issue.record("\(file):\(number): \(ban.why): \(line)")
            }
        }
    }
}
