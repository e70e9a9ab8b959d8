import Assembly

/// The values of the daemon that the admin pages show.
extension Daemon: AdministeredProcess {
    var facts: ProcessFacts {
        ProcessFacts(
            version: Version.number, reloads: reloads, logLinesDropped: logWriter.linesDropped,
            descriptors: MetricsPage.Descriptors(
                limit: descriptorLimit, open: ProcessDescriptors.open))
    }
}
