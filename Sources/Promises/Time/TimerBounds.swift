extension Duration {
    /// The longest delay that every clock can count: 136 years.
    private static var longestDelay: Duration { .seconds(1 << 32) }

    /// The delay that a timer is set to: not negative, and short enough for every clock and for
    /// arithmetic on it.
    package var boundedForTimers: Duration { min(max(self, .zero), .longestDelay) }
}
