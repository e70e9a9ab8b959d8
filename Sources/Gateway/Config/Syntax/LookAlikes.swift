/// Finds letters and signs that look like ASCII but are not. They are often copied from documents,
/// and are invisible in a message such as "unknown key 'tіmeout'".
enum LookAlikes {
    /// ` (the 'і' is U+0456)` for each of them whose code point the text does not already contain;
    /// empty if there is none.
    ///
    /// Words of other scripts are not reported: letters count only in a word whose other letters
    /// are ASCII or look like it.
    static func note(on text: String) -> String {
        // Most messages are ASCII.
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return "" }
        var found: [Unicode.Scalar] = []
        for scalar in signs(in: text) + letters(in: text)
        where !found.contains(scalar) && !text.contains(codePoint(scalar)) {
            found.append(scalar)
        }
        guard !found.isEmpty else { return "" }
        let names = found.map { scalar in
            isVisible(scalar)
                ? "the '\(String(Character(scalar)))' is \(codePoint(scalar))"
                : "it has the invisible \(codePoint(scalar))"
        }
        return " (\(names.joined(separator: ", ")))"
    }

    /// `U+0430`
    private static func codePoint(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    // MARK: Signs

    /// Quotes, dashes, spaces and full-width forms, which do not occur in words of a configuration.
    private static func signs(in text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x00A0, 0x00AD, 0x1680, 0x180E, 0x3000, 0xFEFF: true  // spaces, soft hyphen, mark
            case 0x2000...0x200F, 0x2028...0x202F, 0x205F...0x2064: true  // spaces, directions
            case 0x2010...0x2015, 0x2212: true  // dashes
            case 0x2018...0x201F, 0x00AB, 0x00BB, 0x2039, 0x203A: true  // quotes
            case 0x2024, 0x2044, 0x2215, 0xA789, 0x02D0: true  // dot, slashes, colons
            case 0xFF01...0xFF5E: true  // full-width ASCII
            default: false
            }
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator, .format, .control: false
        default: true
        }
    }

    // MARK: Letters

    private static func letters(in text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.split { !$0.properties.isAlphabetic }.flatMap { word in
            let others = word.filter { !$0.isASCII }
            return others.allSatisfy(similar.contains) ? Array(others) : []
        }
    }

    /// Cyrillic, Greek and a few Latin letters; after Unicode's list of confusable characters
    /// (UTS 39), as far as keyboards have them.
    private static let similar = Set(
        "асеорухіјѕԁһӏԛԝѵАВЕКМНОРСТУХІЈЅԌαγικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑɩ".unicodeScalars)
}
