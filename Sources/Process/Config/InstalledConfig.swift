import Assembly
import Basics
import Gateway

/// The configuration in use.
struct InstalledConfig {
    private(set) var recorded: RecordedConfig
    /// When it was installed, at the start or by a reload.
    private(set) var installed: Instant
    /// What of it concerns the process.
    private(set) var process: ProcessPlan
    /// Computed when a page shows it.
    private var knownDigest: ConfigDigest?

    init(_ recorded: RecordedConfig, _ process: ProcessPlan, at now: Instant) {
        self.recorded = recorded
        self.process = process
        installed = now
    }

    var digest: ConfigDigest {
        mutating get {
            let digest = knownDigest ?? recorded.digest
            knownDigest = digest
            return digest
        }
    }

    /// The file descriptors that its connections have to share.
    var descriptors: DescriptorBudget? {
        get { recorded.descriptors }
        set { recorded.descriptors = newValue }
    }

    /// A reload. Settings of the process that need a restart stay.
    mutating func replace(with new: RecordedConfig, _ process: ProcessPlan, at now: Instant) {
        recorded = new
        self.process = self.process.applyingReload(of: process)
        installed = now
        knownDigest = nil
    }
}
