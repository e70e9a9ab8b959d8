import Assembly
import Basics
import Gateway
import HTTP

/// What the process states about itself on the diagnostic pages.
struct ProcessDiagnostics {
    let phase: ProcessPhase
    /// The names of the backends without which the process is not ready.
    var requiredBackends: [String] = []
    let processID: Int
    let uptime: Duration
    /// The facts of the build, the version first.
    let build: [(name: String, value: String)]
    /// The configuration in use.
    let config: RecordedConfig
    /// The files of the configuration as they are now.
    let files: ConfigFiles
    let reload: ReloadStatus
    let descriptions: PlanDescriptions
}

/// Descriptions of the running plan, which the command line's tools render.
struct PlanDescriptions {
    /// What `check` prints; a failure if the plan cannot be compiled again.
    let summary: () -> Result<String, PlanError>
    /// What `explain` prints for a request, without literal values that may be secrets.
    let explanation: (Method, Target) -> Result<String, PlanError>
}
