/// How often a `RefreshedValue` is fetched, and how long it is used.
struct RefreshRules: Equatable {
    /// The lifetime of a value whose source states none.
    var lifetime: Duration
    /// The bounds of a lifetime that the source states.
    var lifetimes: ClosedRange<Duration>
    /// After how many percent of the lifetime a refresh begins: at a random one of these, so that
    /// workers and replicas do not refresh together.
    var refreshPercent: ClosedRange<Int> = 100...100
    /// How long a value is used beyond its lifetime while refreshes fail. With zero until the end of
    /// a refresh that began in time; with nil never.
    var stale: Duration?
    /// The least time between the starts of two fetches, once there is a value.
    var interval: Duration
    /// The longest pause after a failure: the first one takes a second, each next one twice as long.
    var pauseMax: Duration
}
