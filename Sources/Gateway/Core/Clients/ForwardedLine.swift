import HTTP

/// A header line that `forwarded` generates. To tell cases apart costs less than to compare names.
enum ForwardedLine: CaseIterable {
    case xFor, xProto, xHost, forwarded

    var name: FieldName {
        switch self {
        case .xFor: .xForwardedFor
        case .xProto: .xForwardedProto
        case .xHost: .xForwardedHost
        case .forwarded: .forwarded
        }
    }

    /// Those with these names, in the order of the cases.
    static func all(named names: [FieldName]) -> [ForwardedLine] {
        allCases.filter { names.contains($0.name) }
    }
}
