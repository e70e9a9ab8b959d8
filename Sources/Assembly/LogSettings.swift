package import Basics
import Gateway

// The settings of the log from the configuration.
extension Config.Log.Level {
    /// The level of the log.
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
    /// The format of the log.
    package var format: Log.Format {
        switch self {
        case .json: .json
        case .text: .text
        case .combined: .combined
        }
    }
}
