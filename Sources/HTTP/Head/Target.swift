package import Basics

/// The target of a request: a path and a query, still percent-encoded, exactly as received.
///
/// Checked by `init`, so that writing it can never break a request line: visible ASCII only, every
/// escape of the path complete, no fragment, an authority with a host and a valid port.
package struct Target: Sendable {
    /// RFC 9112 3.2.
    package enum Form: Sendable {
        /// `/path?query`, the usual one.
        case origin
        /// `http://host/path?query`, as clients send it to proxies.
        case absolute
        /// `*`, for OPTIONS only.
        case asterisk
    }

    package let form: Form

    /// The complete text.
    package let text: Bytes

    /// The position of the path in the text; empty for an absolute form that ends with its host.
    let pathStart: Int32
    let pathEnd: Int32

    /// Reads a target; nil if it has none of the three forms.
    package init?(_ text: Bytes) {
        let span = text.span
        guard let layout = TargetLayout(span, in: 0..<span.count) else { return nil }
        self.init(text, layout)
    }

    /// Reads a target; nil if it has none of the three forms.
    package init?(_ text: String) {
        self.init(Bytes(text))
    }

    /// A target in origin form that was put together from checked text and from percent-encoded
    /// values, which is not checked again.
    ///
    /// - Parameter pathEnd: the offset of the `?`, or the end
    package init(assembled text: Bytes, pathEnd: Int) {
        assert(Target(text).map { Int($0.pathEnd) } == pathEnd, "an assembled target is valid")
        self.text = text
        form = .origin
        pathStart = 0
        self.pathEnd = Int32(truncatingIfNeeded: pathEnd)
    }

    init(_ text: Bytes, _ layout: TargetLayout) {
        self.text = text
        form = layout.form
        pathStart = Int32(truncatingIfNeeded: layout.path.lowerBound)
        pathEnd = Int32(truncatingIfNeeded: layout.path.upperBound)
    }

    /// `/`.
    package static var root: Target { Target() }

    private init() {
        text = Bytes("/")
        form = .origin
        pathStart = 0
        pathEnd = 1
    }

    /// The encoded path, which begins with `/`; `*` in the asterisk form.
    package var path: Bytes {
        pathStart == pathEnd ? Bytes("/") : text[Int(pathStart)..<Int(pathEnd)]
    }

    /// The encoded query behind the `?`; nil without one.
    package var query: Bytes? {
        Int(pathEnd) < text.count ? text[(Int(pathEnd) + 1)..<text.count] : nil
    }

    /// Host and port of the absolute form.
    package var authority: Bytes? {
        guard form == .absolute, let colon = text.span.firstOffset(of: ASCII.colon) else {
            return nil
        }
        return text[(colon + 3)..<Int(pathStart)]
    }

    /// The segments of the path.
    package var segments: PathSegments { PathSegments(path) }

    /// The parameters of the query.
    package var parameters: QueryParameters { QueryParameters(query ?? Bytes()) }
}

extension Target: CustomStringConvertible {
    package var description: String { String(text) }
}

extension TextBuffer {
    /// Appends path and query, the origin form, whatever the form of the target.
    package mutating func append(originFormOf target: Target) {
        if target.pathStart == target.pathEnd { append(ASCII.slash) }
        append(target.text[Int(target.pathStart)..<target.text.count])
    }
}
