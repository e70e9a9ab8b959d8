import Basics
import HTTP

/// The media types that a client accepts, with their weights (RFC 9110, section 12.5.1).
///
/// Parameters of a media range other than `q` are ignored. A range that cannot be read counts as absent.
struct MediaPreferences {
    /// In lower case.
    private var ranges: [(type: String, quality: Int)] = []

    /// More than browsers send. Longer lines accept everything.
    private static let bytesMax = 4096

    /// - Parameter lines: the lines of `Accept`; none if the client accepts everything
    init(_ lines: [FieldValue]) {
        let lines = lines.reduce(0) { $0 + $1.bytes.count } <= Self.bytesMax ? lines : []
        for line in lines {
            for range in line.bytes.parts(separatedBy: UInt8(ascii: ",")) {
                let pieces = range.parts(separatedBy: UInt8(ascii: ";"))
                    .map { String($0.trimmed).lowercased() }
                guard let type = pieces.first, type.contains("/") else { continue }
                guard let weight = pieces.dropFirst().first(where: { $0.hasPrefix("q=") }) else {
                    ranges.append((type, 1000))
                    continue
                }
                guard let quality = Self.quality(weight.dropFirst(2)) else { continue }
                ranges.append((type, quality))
            }
        }
        if lines.isEmpty { ranges.append(("*/*", 1000)) }
    }

    /// The weight of the most specific range that has the type, in thousandths; 0 if none has it.
    ///
    /// - Parameter type: in lower case
    func quality(of type: String) -> Int {
        let family = type.prefix { $0 != "/" } + "/*"
        for name in [type, String(family), "*/*"] {
            let known = ranges.filter { $0.type == name }.map(\.quality)
            if let quality = known.max() { return quality }
        }
        return 0
    }

    /// `0.8` in thousandths: at most three digits behind the point (RFC 9110, section 12.4.2).
    private static func quality(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole == "0" || whole == "1" else { return nil }
        let digits = parts.count == 2 ? parts[1] : ""
        guard digits.utf8.count <= 3, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return nil
        }
        let fraction = Int(digits + String(repeating: "0", count: 3 - digits.utf8.count)) ?? 0
        let quality = (whole == "1" ? 1000 : 0) + fraction
        return quality <= 1000 ? quality : nil
    }
}
