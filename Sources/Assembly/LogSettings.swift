package import Basics
import Gateway
import GatewayConfig

extension Config.Log.Level {
    /// As the log knows it.
    package var level: Log.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}

extension Config.Log.Format {
    /// As the log knows it.
    package var format: Log.Format {
        switch self {
        case .json: .json
        case .text: .text
        }
    }
}
