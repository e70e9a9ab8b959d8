import Foundation

/// The targets of `Package.swift` and what they depend on, read from its text.
///
/// `swift package dump-package` would give the same, but not while tests run: both lock the package.
struct Manifest {
    /// By target: the names of the targets and products that it depends on.
    let dependencies: [String: [String]]
    /// By product: its targets.
    let products: [String: [String]]
    /// The targets that are libraries of the system.
    let systemLibraries: Set<String>

    init(_ text: String) {
        var dependencies: [String: [String]] = [:]
        var systemLibraries: Set<String> = []
        var code = text.replacing(/\/\/.*/, with: "")
        if let list = code.firstMatch(of: /let dependencies: [^=]*= (\[[^\]]*\])/)?.1 {
            code = code.replacing("dependencies: dependencies", with: "dependencies: \(list)")
        }
        for call in Self.calls(
            of: ["target", "executableTarget", "testTarget", "systemLibrary", "system", "support"],
            in: code)
        {
            guard let name = call.text.firstMatch(of: /"([\w-]+)"/)?.1 else { continue }
            let list =
                call.text.firstMatch(of: /(?:dependencies:|"[\w-]+",)\s*\[([^\]]*)\]/)?.1 ?? ""
            let packages = list.matches(of: /package:\s*"([^"]+)"/).map { String($0.1) }
            let names = list.matches(of: /"([^"]+)"/).map { String($0.1) }
            dependencies[String(name)] = names.filter { !packages.contains($0) }
            if call.function.hasPrefix("system") { systemLibraries.insert(String(name)) }
        }
        var products: [String: [String]] = [:]
        for call in Self.calls(of: ["library"], in: code) {
            let names = call.text.matches(of: /"([^"]+)"/).map { String($0.1) }
            if let name = names.first { products[name] = Array(names.dropFirst()) }
        }
        self.dependencies = dependencies
        self.products = products
        self.systemLibraries = systemLibraries
    }

    /// Everything that a product compiles and links, directly or not.
    func closure(ofProduct name: String) -> Set<String> { closure(of: products[name] ?? []) }

    /// The targets, and what they depend on, directly or not.
    func closure(of targets: [String]) -> Set<String> {
        var found: Set<String> = []
        var next = targets
        while let target = next.popLast() {
            if found.insert(target).inserted { next += dependencies[target] ?? [] }
        }
        return found
    }

    /// The calls of these functions, from the name to the closing parenthesis.
    private static func calls(
        of functions: [String], in code: String
    ) -> [(function: String, text: Substring)] {
        code.matches(of: /\b(\w+)\(/).compactMap { match in
            guard functions.contains(String(match.1)) else { return nil }
            var depth = 0
            let rest = code[match.range.lowerBound...]
            for index in rest.indices {
                if rest[index] == "(" { depth += 1 }
                if rest[index] == ")" { depth -= 1 }
                if depth == 0, rest[index] == ")" {
                    return (String(match.1), rest[...index])
                }
            }
            return nil
        }
    }
}
