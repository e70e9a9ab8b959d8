/// The configuration in use, and the last reload.
package struct ReloadStatus: Sendable {
    /// When the configuration in use was loaded, in nanoseconds since 1970.
    package var loadedAt: Int64
    /// Nil before the first reload.
    package var last: Reload?
    /// Keys of the last configuration that was read whose values need a restart.
    package var keysThatNeedRestart: [String] = []

    /// One reload.
    package struct Reload: Sendable {
        package let result: Result
        /// In nanoseconds since 1970.
        package let endedAt: Int64
        /// Errors and warnings, as the log and `check` have them.
        package let problems: [String]

        package init(_ result: Result, endedAt: Int64, problems: [String]) {
            self.result = result
            self.endedAt = endedAt
            self.problems = problems
        }
    }

    package enum Result: String, Sendable {
        case succeeded, failed
        /// A worker did not answer.
        case refused
    }

    package init(loadedAt: Int64) {
        self.loadedAt = loadedAt
    }
}
