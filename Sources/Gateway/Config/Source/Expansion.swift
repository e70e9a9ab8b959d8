import Basics

/// Replaces `${VAR}`, `${VAR:-default}` and `${file:/path}` by their values; `$${x}` is a literal
/// `${x}`.
///
/// As in a shell, `:-` also applies to a variable that is empty.
struct Expansion {
    /// The environment.
    let variable: (String) -> String?

    /// Reads secret files; the path in `${file:secret}` is relative to the file that contains it.
    let files: ConfigFiles

    /// The largest file that `${file:}` reads.
    ///
    /// 1 MiB: a secret, a token or a certificate chain is some kilobytes.
    static let fileBytesMax = 1 << 20

    struct Failure: Error, Equatable {
        let text: String
    }

    /// Whether a text has something to expand.
    static func isNeeded(in text: String) -> Bool { text.contains("${") }

    /// The expanded text, or nil if there is nothing to expand.
    ///
    /// With `doublesBraces`, the inserted values are literal text in a template, even if they
    /// contain braces.
    func expand(
        _ text: String, in file: String, doublesBraces: Bool
    ) throws(Failure) -> String? {
        guard Self.isNeeded(in: text) else { return nil }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(ofPair: "${") {
            let before = rest[..<start]
            let inside = rest[start...].dropFirst(2)
            guard let end = inside.firstIndex(of: "}") else {
                throw Failure(text: "'${' is never closed")
            }
            let isEscaped = before.last == "$"
            let value =
                isEscaped ? String(rest[start...end]) : try value(of: inside[..<end], in: file)
            result += isEscaped ? before.dropLast() : before
            result += doublesBraces ? value.doublingBraces : value
            rest = inside[inside.index(after: end)...]
        }
        return result + rest
    }

    /// The text of a template with `${...}` as literal text, shown instead of the expanded one.
    static func concealed(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(ofPair: "${"),
            let end = rest[start...].firstIndex(of: "}")
        {
            result += rest[..<start]
            result += String(rest[start...end]).doublingBraces
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private func value(of name: Substring, in file: String) throws(Failure) -> String {
        if name.hasPrefix("file:") { return try contents(of: String(name.dropFirst(5)), in: file) }
        guard let colon = name.firstIndex(ofPair: ":-") else {
            let name = try checked(name)
            if let value = variable(name) { return value }
            throw Failure(
                text: "environment variable \(name) is not set"
                    + " (write ${\(name):-...} to give a default)")
        }
        let value = variable(try checked(name[..<colon])) ?? ""
        return value.isEmpty ? String(name[colon...].dropFirst(2)) : value
    }

    private func checked(_ name: Substring) throws(Failure) -> String {
        let isName =
            name.utf8.first.map { !(0x30...0x39).contains($0) } == true
            && name.allSatisfy { $0 == "_" || ($0.isASCII && ($0.isLetter || $0.isNumber)) }
        guard isName else {
            throw Failure(
                text: "'${\(name)}' is not a valid variable"
                    + " (write ${NAME}, ${NAME:-default} or ${file:/path})")
        }
        return String(name)
    }

    /// The file without the line end that editors and `echo` put at its end.
    private func contents(of path: String, in file: String) throws(Failure) -> String {
        let bytes: [UInt8]
        do throws(ConfigFileError) {
            bytes = try files.read(FilePath.resolve(path, relativeTo: file))
            guard bytes.count <= Self.fileBytesMax else {
                throw .tooLarge(Self.fileBytesMax)
            }
        } catch {
            throw Failure(
                text: "file \(path) of '${file:\(path)}' cannot be read: \(error.message)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(text: "file \(path) of '${file:\(path)}' is not UTF-8 text")
        }
        guard text.last?.isNewline == true else { return text }
        return String(text.dropLast())
    }
}

extension Substring {
    /// The index of the first occurrence of the two characters of `pair`.
    fileprivate func firstIndex(ofPair pair: String) -> Index? {
        indices.first { self[$0...].hasPrefix(pair) }
    }
}

extension String {
    fileprivate var doublingBraces: String {
        reduce(into: "") { result, character in
            result.append(character)
            if character == "{" || character == "}" { result.append(character) }
        }
    }
}
