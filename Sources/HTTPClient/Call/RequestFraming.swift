import Basics
import HTTP

/// How the end of a request's body is marked. A request cannot end with its connection.
enum RequestFraming: Equatable {
    case length(Int)
    case chunked

    init(of body: Body) {
        switch body {
        case .bytes(let bytes): self = .length(bytes.count)
        case .described, .tunnel: self = .length(0)
        case .stream(let source):
            switch source.framing {
            case .none: self = .length(0)
            case .length(let length): self = .length(length)
            case .chunked, .untilClose: self = .chunked
            }
        }
    }

    var body: BodyFraming {
        switch self {
        case .length(let length): .length(length)
        case .chunked: .chunked
        }
    }
}
