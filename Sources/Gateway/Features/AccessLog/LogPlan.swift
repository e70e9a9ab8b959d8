package import HTTP

/// `log:`
package struct LogPlan: Sendable, Equatable {
    package private(set) var format: Config.Log.Format
    package let level: Config.Log.Level
    /// Whether requests get a line.
    package let access: Bool
    /// Which requests do; all of them if it is empty.
    package let only: [Config.Log.Condition]
    /// The request headers whose values are written.
    package let headers: [FieldName]
    package let query: Config.Log.Query

    init(_ log: Config.Log?) {
        format = log?.format?.value ?? PlanDefaults.logFormat
        level = log?.level?.value ?? PlanDefaults.logLevel
        access = log?.access?.value ?? PlanDefaults.logAccess
        only = (log?.only ?? []).map(\.value)
        headers = (log?.headers ?? []).compactMap { FieldName($0.value) }
        query = log?.query?.value ?? PlanDefaults.logQuery
    }

    /// The same with another format.
    func keeping(_ format: Config.Log.Format) -> LogPlan {
        var plan = self
        plan.format = format
        return plan
    }
}
