import Assembly

/// What the admin pages show of the daemon.
extension Daemon: AdministeredProcess {
    var facts: ProcessFacts {
        ProcessFacts(
            version: Version.number, reloads: reloads, logLinesDropped: logWriter.linesDropped,
            descriptors: MetricsPage.Descriptors(
                limit: descriptorLimit, open: ProcessDescriptors.open))
    }
}
