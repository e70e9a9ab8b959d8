import Assembly
import Basics
import Gateway
import HTTP
import Promises

/// The change of the log level for a limited time: `PUT /-/log?level=debug&for=10m`.
extension AdminPages {
    static func changeLogLevel(
        _ pages: AdminPages, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(pages.changeLogLevel(request.head.target))
    }

    private func changeLogLevel(_ target: Target) -> AdminResponse {
        var level: Log.Level?
        var duration = LogLevelControl.defaultDuration
        let fault = target.firstFault { name, value in
            switch name {
            case "level":
                guard let known = Config.Log.Level(rawValue: String(value)) else {
                    return "level must be debug, info, warning or error"
                }
                level = known.level
            case "for":
                guard let time = Duration(spelled: String(value)),
                    time <= LogLevelControl.durationMax
                else { return "for must be a time of at most 24h, such as 10m" }
                duration = time
            default: return "unknown parameter \(name)"
            }
            return nil
        }
        if let fault { return .invalid(fault) }
        guard let level else { return .invalid("level is missing") }
        let control = process.logLevel
        control.change(to: level, for: duration)
        return .text(
            .ok, "\(level.name) for \(duration.spelled), then \(control.configured.name)\n")
    }
}
