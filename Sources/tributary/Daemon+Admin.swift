import Assembly
import Basics
<<<<<<< HEAD
import Gateway
import Glibc
import Reactor
=======
>>>>>>> 71c6c459 (admin: add the page of endpoints, requests and backends, and its JSON)
import UVReactor

/// The values of the daemon that the admin pages show.
extension Daemon: AdministeredProcess {
    var facts: ProcessFacts {
        ProcessFacts(
            version: Version.number, reloads: reloads, logLinesDropped: logWriter.linesDropped,
            descriptors: MetricsPage.Descriptors(
                limit: descriptorLimit, open: ProcessDescriptors.open), spans: traces.counts)
    }

<<<<<<< HEAD
    var diagnostics: ProcessDiagnostics {
        ProcessDiagnostics(
            phase: processPhase, requiredBackends: process.requiredBackends,
            processID: Int(getpid()), uptime: loop.now - started, build: BuildFacts().facts,
            config: config, files: source.files, reload: reloadStatus,
            descriptions: planInspector.descriptions(of: config, workers: process.workers))
=======
    var identity: ProcessIdentity {
        ProcessIdentity(
            instance: HostName.current, version: Version.number, config: config.path,
            configAge: loop.now - configInstalled)
>>>>>>> 71c6c459 (admin: add the page of endpoints, requests and backends, and its JSON)
    }
}
