import Assembly
import Gateway
import HTTP
import Promises

/// The page of the last reload. It reads the files of the configuration, to show whether they
/// changed.
extension AdminPages {
    static func reloadStatus(
        _ pages: AdminPages, _: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(.json(json(ofReload: pages.process)))
    }

    static func json(ofReload process: any AdministeredProcess) -> JSONTree {
        let diagnostics = process.diagnostics
        let config = diagnostics.config
        let status = diagnostics.reload
        let counts = process.facts.reloads
        return .object([
            (
                "running",
                .object([
                    ("path", .text(config.path)), ("digest", .text("\(config.digest)")),
                    ("loaded_at", .time(status.loadedAt)),
                ])
            ),
            (
                "files",
                .object([
                    ("digest", .text("\(config.currentDigest(in: diagnostics.files))")),
                    ("changed", .flag(!config.isCurrent(in: diagnostics.files))),
                ])
            ), ("last", status.last.map(json) ?? .raw("null")),
            ("needs_restart", .texts(status.keysThatNeedRestart)),
            ("succeeded", .number(counts.succeeded)), ("failed", .number(counts.failed)),
        ])
    }

    private static func json(of reload: ReloadStatus.Reload) -> JSONTree {
        .object([
            ("result", .text(reload.result.rawValue)), ("at", .time(reload.endedAt)),
            ("problems", .texts(reload.problems)),
        ])
    }
}
