import Assembly
import Basics
import Gateway
import Glibc
import HTTP
import Reactor
import System
import UVReactor

/// The values of the daemon that the admin pages show.
extension Daemon: AdministeredProcess {
    var facts: ProcessFacts {
        let digest = digest ?? config.digest
        self.digest = digest
        return ProcessFacts(
            version: Product.version, digest: digest.description, startedAt: startedAt,
            reloads: reloads, log: logWriter.facts,
            descriptors: ProcessFacts.Descriptors(
                limit: descriptorLimit, open: ProcessDescriptors.open),
            usage: ProcessUsage.now.map {
                ProcessFacts.Usage(cpuSeconds: $0.cpuSeconds, residentBytes: $0.residentBytes)
            }, spans: traces.counts,
            limitCells: ProcessFacts.LimitCellFacts(shared.limits, at: loop.now))
    }

    var diagnostics: ProcessDiagnostics {
        ProcessDiagnostics(
            phase: processPhase, requiredBackends: process.requiredBackends,
            processID: Int(getpid()), uptime: loop.now - started, build: host.build,
            config: config, files: source.files, reload: reloadStatus,
            descriptions: planInspector.descriptions(of: config, workers: process.workers))
    }

    var identity: ProcessIdentity {
        ProcessIdentity(
            instance: HostName.current, version: Product.version, config: config.path,
            configAge: loop.now - configInstalled)
    }
}
