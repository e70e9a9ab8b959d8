/// A set of Unicode's general categories, as `\p{L}` and `\p{Lu}` name them.
struct ScalarCategories: OptionSet {
    let rawValue: UInt32

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The category with a name of one or two letters; nil for an unknown name.
    init?(named name: String) {
        var found: UInt32 = 0
        for (index, short) in ScalarCategories.names.enumerated()
        where short == name || (name.count == 1 && short.hasPrefix(name)) {
            found |= 1 << UInt32(index)
        }
        if found == 0 { return nil }
        self.init(rawValue: found)
    }

    /// The other categories, and so the other scalars, because every scalar has exactly one
    /// category.
    var complement: ScalarCategories {
        ScalarCategories(rawValue: ~rawValue & ((1 << UInt32(ScalarCategories.names.count)) - 1))
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        if rawValue == 0 { return false }
        return rawValue >> scalar.properties.generalCategory.index & 1 == 1
    }

    fileprivate static let names = [
        "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
        "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
    ]
}

extension Unicode.GeneralCategory {
    /// The index in `ScalarCategories.names`.
    fileprivate var index: UInt32 {
        switch self {
        case .uppercaseLetter: 0
        case .lowercaseLetter: 1
        case .titlecaseLetter: 2
        case .modifierLetter: 3
        case .otherLetter: 4
        case .nonspacingMark: 5
        case .spacingMark: 6
        case .enclosingMark: 7
        case .decimalNumber: 8
        case .letterNumber: 9
        case .otherNumber: 10
        case .connectorPunctuation: 11
        case .dashPunctuation: 12
        case .openPunctuation: 13
        case .closePunctuation: 14
        case .initialPunctuation: 15
        case .finalPunctuation: 16
        case .otherPunctuation: 17
        case .mathSymbol: 18
        case .currencySymbol: 19
        case .modifierSymbol: 20
        case .otherSymbol: 21
        case .spaceSeparator: 22
        case .lineSeparator: 23
        case .paragraphSeparator: 24
        case .control: 25
        case .format: 26
        case .surrogate: 27
        case .privateUse: 28
        case .unassigned: 29
        @unknown default: 29
        }
    }
}
