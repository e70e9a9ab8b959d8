/// The configuration in use, and the last reload.
struct ReloadStatus: Sendable {
    /// When the configuration in use was loaded, in nanoseconds since 1970.
    var loadedAt: Int64
    /// Nil before the first reload.
    var last: Reload?
    /// Keys of the last configuration that was read whose values need a restart.
    var keysThatNeedRestart: [String] = []

    /// One reload.
    struct Reload: Sendable {
        let result: Result
        /// In nanoseconds since 1970.
        let endedAt: Int64
        /// Errors and warnings, as the log and `check` have them.
        let problems: [String]

        init(_ result: Result, endedAt: Int64, problems: [String]) {
            self.result = result
            self.endedAt = endedAt
            self.problems = problems
        }
    }

    enum Result: String, Sendable {
        case succeeded, failed
        /// A worker did not answer.
        case refused
    }

    init(loadedAt: Int64) {
        self.loadedAt = loadedAt
    }
}
