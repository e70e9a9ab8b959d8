import Patterns

/// Regular expressions of KrakenD, which may match a part of a text; those of the gateway match the
/// whole text.
enum KrakenDRegex {
    /// The pattern that matches the texts of which this one matches a part.
    static func whole(_ text: String) throws(PatternError) -> String {
        var pattern = text
        let (isFromStart, isToEnd) = (pattern.hasPrefix("^"), pattern.hasSuffix("$"))
        if isFromStart { pattern.removeFirst() }
        if isToEnd, !pattern.isEmpty { pattern.removeLast() }
        if !isFromStart || !isToEnd || pattern.contains("|") { pattern = "(\(pattern))" }
        if !isFromStart { pattern = ".*" + pattern }
        if !isToEnd { pattern += ".*" }
        _ = try Pattern(pattern)
        return pattern
    }

    /// The pattern that matches this text only.
    static func literal(_ text: String) -> String {
        text.map { "\\.^$|()[]{}*+?".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
