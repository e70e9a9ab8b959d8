extension Duration {
    /// The longest delay that every clock supports: 136 years.
    private static var longestDelay: Duration { .seconds(1 << 32) }

    /// The delay bounded for timers: not negative, and short enough for every clock and for
    /// arithmetic on it.
    package var boundedForTimers: Duration { min(max(self, .zero), .longestDelay) }
}
