import Testing

/// The rules for `Sources/Gateway/Features`, in which each feature has a folder for its keys, checks, plan,
/// filter and explanations (docs/contribute/decisions/0024-features.md).
enum Rooms {
    /// One use of a type that a rule forbids.
    struct Fault: CustomStringConvertible, Equatable {
        let file: String
        let type: String
        let declaredIn: String

        var description: String { "\(file) uses \(type) of \(declaredIn)" }
    }

    private static let config = "Sources/Gateway/Config/"
    private static let features = "Sources/Gateway/Features/"

    static func isInRoom(_ file: Sources.File) -> Bool { file.path.hasPrefix(features) }

    /// `Auth` of `Features/Auth/Tokens/TokensKeys.swift`; nil for a file outside of a feature.
    private static func feature(_ file: Sources.File) -> Substring? {
        guard isInRoom(file) else { return nil }
        let rest = file.path.dropFirst(features.count)
        return rest.contains("/") ? rest.prefix { $0 != "/" } : nil
    }

    /// Whether it belongs to the configuration language: keys and checks, of the core or of a feature.
    /// A file such as `LimitCheck.swift`, which declares the type of its name, checks requests.
    static func isLanguage(_ file: Sources.File) -> Bool {
        if file.path.hasPrefix(config) { return true }
        guard feature(file) != nil, let name = file.path.split(separator: "/").last else {
            return false
        }
        return name.hasSuffix("Keys.swift")
            || name.hasSuffix("Check.swift")
                && !file.topLevelTypes.contains { "\($0.name).swift" == name }
    }

    /// The names of types nested in `Config`, by which the language's files mean those: `Backend` there
    /// is `Config.Backend`.
    static func hiddenNames(_ files: [Sources.File]) -> (Sources.File) -> Set<String> {
        var nested: Set<String> = []
        for file in files where isLanguage(file) {
            for (_, line) in file.code {
                let words = line.prefix { !"{:<=".contains($0) }.split(separator: " ")
                guard let at = words.firstIndex(where: { ["struct", "enum"].contains($0) }),
                    at + 1 < words.count
                else { continue }
                nested.insert(String(words[at + 1]))
            }
        }
        for file in files where isLanguage(file) {
            nested.subtract(file.topLevelTypes.map(\.name))
        }
        return { file in isLanguage(file) ? nested : [] }
    }

    /// The features that a feature may use nevertheless.
    private static let exceptions: [Substring: Set<Substring>] = [
        // `retry` of `proxy` has the keys and the plan of a call's.
        "Proxy": ["Retry"]
    ]

    /// The uses of types of one feature by another one.
    static func usesOfOtherFeatures(_ files: [Sources.File]) -> [Fault] {
        uses(files) { user, declaring in
            guard let used = feature(declaring), let own = feature(user) else { return false }
            return used != own && exceptions[own]?.contains(used) != true
        }
    }

    /// The uses of a plan, a filter or the core by keys and checks. They may use the list of features.
    static func usesAboveTheLanguage(_ files: [Sources.File]) -> [Fault] {
        uses(files) { user, declaring in
            isLanguage(user) && !isLanguage(declaring)
                && (!isInRoom(declaring) || feature(declaring) != nil)
        }
    }

    private static func uses(
        _ files: [Sources.File], where isFault: (Sources.File, Sources.File) -> Bool
    ) -> [Fault] {
        var declared: [String: [Sources.File]] = [:]
        for file in files {
            for type in file.topLevelTypes where !type.isPrivate {
                declared[type.name, default: []].append(file)
            }
        }
        let hidden = hiddenNames(files)
        return files.flatMap { file in
            let own = Set(file.topLevelTypes.map(\.name))
            return SourceText.identifiers(in: file.bareCode).subtracting(own)
                .subtracting(hidden(file)).sorted()
                .flatMap { name in
                    (declared[name] ?? []).filter { isFault(file, $0) }
                        .map { Fault(file: file.path, type: name, declaredIn: $0.path) }
                }
        }
    }
}
