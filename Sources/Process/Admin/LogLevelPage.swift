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
        for parameter in target.parameters {
            let value = String(parameter.value)
            switch String(parameter.name) {
            case "level":
                guard let known = Config.Log.Level(rawValue: value) else {
                    return .invalid("level must be debug, info, warning or error")
                }
                level = known.level
            case "for":
                guard let time = Duration(spelled: value), time <= LogLevelControl.durationMax
                else { return .invalid("for must be a time of at most 24h, such as 10m") }
                duration = time
            case let name: return .invalid("unknown parameter \(name)")
            }
        }
        guard let level else { return .invalid("level is missing") }
        let control = process.logLevel
        control.change(to: level, for: duration)
        return .text(
            .ok, "\(level.name) for \(duration.spelled), then \(control.configured.name)\n")
    }
}
