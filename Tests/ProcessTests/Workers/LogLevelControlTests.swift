import Assembly
import Basics
import SimReactor
import Testing

@testable import Process

/// The log level that holds for a limited time.
@Suite struct LogLevelControlTests {
    private final class Written {
        var text: [String] = []
        var changes: [Log.Level?] = []
    }

    private let network = SimNetwork(seed: 1)
    private let written = Written()
    private let log: Log
    private let control: LogLevelControl

    init() {
        let loop = network.makeLoop("control")
        log = Log(level: .warning, format: .text, clock: { 0 }) { [written] in
            written.text += String(decoding: $0, as: UTF8.self).split(separator: "\n")
                .map { String($0.split(separator: " ", maxSplits: 1)[1]) }
        }
        control = LogLevelControl(.warning, loop: loop, log: log)
        control.onChange = { [written] in written.changes.append($0) }
    }

    @Test func theLevelOfTheConfigurationComesBack() {
        control.change(to: .debug, for: .seconds(60))
        #expect(log.level == .debug && control.temporary == .debug)
        network.advance(by: .milliseconds(59_999))
        #expect(log.level == .debug)
        network.advance(by: .milliseconds(1))
        #expect(log.level == .warning && control.temporary == nil)
        #expect(written.changes == [.debug, nil])
        #expect(
            written.text == [
                "warning log level changed to=debug ms=60000.000",
                "warning log level restored to=warning",
            ])
    }

    @Test func aSecondChangeReplacesTheFirst() {
        control.change(to: .debug, for: .seconds(10))
        network.advance(by: .seconds(9))
        control.change(to: .error, for: .seconds(10))
        network.advance(by: .seconds(9))
        #expect(log.level == .error)
        network.advance(by: .seconds(1))
        #expect(log.level == .warning && written.changes == [.debug, .error, nil])
    }

    @Test func aReloadTakesEffectAtTheEndOfTheChange() {
        control.change(to: .debug, for: .seconds(10))
        control.configure(.info)
        #expect(log.level == .debug)
        network.advance(by: .seconds(10))
        #expect(log.level == .info)
        control.configure(.error)
        #expect(log.level == .error)
    }
}
