import Assembly
import Basics
import Gateway
import HTTP
import Promises

/// Everything that the diagnostic pages show, in one document. A worker that does not answer is left
/// out and named, so that the page never waits for one.
extension AdminPages {
    static func dump(
        _ pages: AdminPages, _: Request, _: Exchange
    ) -> LocalPromise<AdminResponse> {
        pages.process.monitor.reports().map { reports in
            .json(dump(of: pages.process, reports))
        }
    }

    private static func dump(
        of process: any AdministeredProcess, _ reports: [WorkerReport]
    ) -> JSONTree {
        let diagnostics = process.diagnostics
        let plan: String =
            switch diagnostics.descriptions.summary() {
            case .success(let text): text
            case .failure(let error): error.line
            }
        return .object([
            ("build", .object(diagnostics.build.map { ($0.name, .text($0.value)) })),
            ("process", json(of: process, diagnostics)),
            ("missing_workers", .missingWorkers(reports)), ("loops", loops(of: reports)),
            ("requests", requests(of: reports)), ("backends", backends(of: reports)),
            ("reload", json(ofReload: process)),
            ("configuration", .object(members(of: diagnostics.config))),
            ("plan", .texts(lines(plan))),
        ])
    }

    private static func json(
        of process: any AdministeredProcess, _ diagnostics: ProcessDiagnostics
    ) -> JSONTree {
        let facts = process.facts
        let level = process.logLevel
        return .object([
            ("pid", .number(diagnostics.processID)), ("phase", .text(diagnostics.phase.rawValue)),
            ("uptime_ms", .milliseconds(diagnostics.uptime)),
            ("file_descriptors", facts.descriptors.open.map { .number($0) } ?? .raw("null")),
            ("file_descriptors_limit", .number(facts.descriptors.limit)),
            ("log_level", .text("\(level.temporary?.name ?? level.configured.name)")),
            ("log_lines_dropped", .number(facts.log.linesDropped)),
        ])
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
