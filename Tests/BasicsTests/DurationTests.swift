import Basics
import Testing

/// Durations as nanoseconds of a clock, at the limits of 64 bits.
@Suite struct DurationTests {
    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.nanoseconds(-1), -1),
            (.seconds(-3), -3_000_000_000),
            (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.min), .min),
            (.nanoseconds(Int64.max) - .nanoseconds(1), .max - 1),
            (.nanoseconds(Int64.min) + .nanoseconds(1), .min + 1),
            (.seconds(9_223_372_036), 9_223_372_036_000_000_000),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
            (.seconds(Int64.max) * 8, .max), (.seconds(Int64.min) * 8, .min),
            (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
            (Duration(secondsComponent: 0, attosecondsComponent: -1), 0),
        ] as [(Duration, Int64)])
    func nanosecondsSaturate(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(duration.inNanoseconds == nanoseconds)
        #expect((Instant(nanoseconds: 0) + duration).nanoseconds == nanoseconds)
    }
}
