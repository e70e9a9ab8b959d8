import Assembly
import Basics
import Gateway
import HTTP

/// What the process states about itself on the diagnostic pages.
struct ProcessDiagnostics {
    let phase: ProcessPhase
    /// The names of the backends without which the process is not ready.
    let requiredBackends: [String]
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

    init(
        phase: ProcessPhase, requiredBackends: [String] = [], processID: Int, uptime: Duration,
        build: [(name: String, value: String)], config: RecordedConfig, files: ConfigFiles,
        reload: ReloadStatus, descriptions: PlanDescriptions
    ) {
        self.phase = phase
        self.requiredBackends = requiredBackends
        self.processID = processID
        self.uptime = uptime
        self.build = build
        self.config = config
        self.files = files
        self.reload = reload
        self.descriptions = descriptions
    }
}

/// Descriptions of the running plan, which the command line's tools render.
struct PlanDescriptions {
    /// What `check` prints; nil if the plan cannot be compiled again.
    let summary: () -> String?
    /// What `explain` prints for a request, without literal values that may be secrets.
    let explanation: (Method, Target) -> String?

    init(
        summary: @escaping () -> String?, explanation: @escaping (Method, Target) -> String?
    ) {
        self.summary = summary
        self.explanation = explanation
    }
}
