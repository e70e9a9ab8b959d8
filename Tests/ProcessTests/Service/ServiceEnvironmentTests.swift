import Basics
import Testing

@testable import Process

/// The variables of a service manager.
@Suite struct ServiceEnvironmentTests {
    private func environment(_ variables: [String: String]) -> ServiceEnvironment {
        ServiceEnvironment(process: 42) { variables[$0] }
    }

    @Test func nothingIsReadFromAnEmptyEnvironment() {
        let environment = environment(["NOTIFY_SOCKET": ""])
        #expect(environment.notifySocket == nil)
        #expect(environment.watchdogLimit == nil)
        #expect(environment.socketNames.isEmpty)
    }

    @Test func everythingOfAManagerIsRead() {
        let environment = environment([
            "NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "30000000",
            "WATCHDOG_PID": "42", "LISTEN_PID": "42", "LISTEN_FDS": "3",
            "LISTEN_FDNAMES": "http::admin",
        ])
        #expect(environment.notifySocket == "/run/systemd/notify")
        #expect(environment.watchdogLimit == .seconds(30))
        #expect(environment.socketNames == ["http", "unknown", "admin"])
    }

    @Test func socketsNeedNoNames() {
        let environment = environment(["LISTEN_PID": "42", "LISTEN_FDS": "2"])
        #expect(environment.socketNames == ["unknown", "unknown"])
    }

    @Test(arguments: [
        ["LISTEN_PID": "41", "LISTEN_FDS": "1"], ["LISTEN_FDS": "1"], ["LISTEN_PID": "42"],
        ["LISTEN_PID": "42", "LISTEN_FDS": "0"], ["LISTEN_PID": "42", "LISTEN_FDS": "-1"],
        ["LISTEN_PID": "42", "LISTEN_FDS": "x"], ["LISTEN_PID": "42", "LISTEN_FDS": "99999999"],
    ])
    func socketsOfAnotherProcessAndMalformedNumbersAreIgnored(_ variables: [String: String]) {
        #expect(environment(variables).socketNames.isEmpty)
    }

    @Test(arguments: [
        ["WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "41"], ["WATCHDOG_USEC": "0"],
        ["WATCHDOG_USEC": "-1"], ["WATCHDOG_USEC": "99999999999999999999"],
    ])
    func aWatchdogOfAnotherProcessAndMalformedTimesAreIgnored(_ variables: [String: String]) {
        #expect(environment(variables).watchdogLimit == nil)
    }

    @Test func aWatchdogNeedsNoProcess() {
        #expect(environment(["WATCHDOG_USEC": "1000000"]).watchdogLimit == .seconds(1))
    }
}
