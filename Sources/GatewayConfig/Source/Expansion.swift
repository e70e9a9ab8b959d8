import Basics

/// Puts in what `${VAR}`, `${VAR:-default}` and `${file:/path}` stand for; `$${x}` is `${x}` itself.
///
/// As in a shell, `:-` also counts a variable as missing that is empty.
struct Expansion {
    /// The environment, handed in.
    let variable: (String) -> String?

    /// Reads a secret's file; `${file:secret}` is looked for beside the file that names it.
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
    /// With `doublesBraces`, what is put in is literal for a template, whatever it contains.
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

    /// The text of a template with `${...}` as literal text: what is shown instead of the expansion.
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
                text: "'${\(name)}' names no environment variable"
                    + " (there are ${NAME}, ${NAME:-default} and ${file:/path})")
        }
        return String(name)
    }

    /// The file without the line end that editors and `echo` put at its end.
    private func contents(of path: String, in file: String) throws(Failure) -> String {
        let bytes: [UInt8]
        do throws(ConfigFileError) {
            bytes = try files.read(FilePath.resolve(path, besides: file))
            guard bytes.count <= Self.fileBytesMax else {
                throw .tooLarge(Self.fileBytesMax)
            }
        } catch {
            throw Failure(text: "file \(path) of '${file:\(path)}' cannot be read: \(error.words)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(text: "file \(path) of '${file:\(path)}' is no UTF-8 text")
        }
        guard text.last?.isNewline == true else { return text }
        return String(text.dropLast())
    }
}

extension Substring {
    /// Where the two characters of `pair` stand next to each other for the first time.
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
