import Foundation

/// A response as a scripted client received it.
package struct ReceivedResponse {
    package let status: Int
    package let lines: [String]
    package let body: String
    /// Virtual milliseconds from the client's last bytes to the last byte of the response.
    package let ms: Double

    /// A placeholder for a missing response.
    package static let none = ReceivedResponse(status: 0, lines: [], body: "", ms: 0)

    /// The values of a header, joined by ` | `; nil without one.
    package subscript(name: String) -> String? {
        let prefix = name.lowercased() + ":"
        let values = lines.filter { $0.lowercased().hasPrefix(prefix) }
            .map { $0.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces) }
        return values.isEmpty ? nil : values.joined(separator: " | ")
    }

    /// `504 at 500`
    package var outcome: String { "\(status) at \(String(format: "%g", ms))" }

    /// `200 at 20 {"one":1}`
    package var summary: String { "\(outcome) \(body)" }

    /// The JSON array behind `failures`, if the body has one.
    package var failures: String? {
        guard let start = body.range(of: #""failures":"#), let end = body.lastIndex(of: "]") else {
            return nil
        }
        return String(body[start.upperBound...end])
    }
}
