import Testing

/// The folders of a target form layers: none uses another that uses it.
@Suite struct FolderTests {
    @Test(arguments: DependencyTests.allowed.keys.sorted())
    func foldersOfATargetHaveNoCycle(_ target: String) throws {
        let files = try Sources.all().filter { $0.target == target && !Rooms.isInRoom($0) }
        let cycles = FolderGraph(files, hidden: Rooms.hiddenNames(try Sources.all())).cycles
        #expect(cycles.isEmpty, "\(cycles.joined(separator: "\n"))")
    }

    // MARK: The graph

    private func file(_ path: String, _ lines: String...) -> Sources.File {
        Sources.File(target: "T", path: "Sources/T/\(path)", lines: lines)
    }

    private func cycles(_ files: Sources.File...) -> [String] { FolderGraph(files).cycles }

    @Test func twoFoldersThatUseEachOtherAreACycle() {
        let found = cycles(
            file("Plan/Plan.swift", "package struct Plan {", "    let backend: Backend?", "}"),
            file("Backend/Backend.swift", "final class Backend {", "    var plan: [Plan] = []", "}")
        )
        #expect(
            found == [
                "Backend -> Plan: Sources/T/Backend/Backend.swift uses Plan",
                "Plan -> Backend: Sources/T/Plan/Plan.swift uses Backend",
            ])
    }

    @Test func aCycleOverThreeFoldersIsFound() {
        let found = cycles(
            file("A/A.swift", "struct A { let b: B }"), file("B/B.swift", "struct B { let c: C }"),
            file("C/C.swift", "struct C { func a() -> A? { nil } }"),
            file("D/D.swift", "struct D { let a: A }"))
        #expect(found.count == 3)
    }

    @Test func aFolderAndTheOneInsideOfItAreTwo() {
        let found = cycles(
            file("A.swift", "struct A { let b: B }"), file("Inner/B.swift", "typealias B = A"))
        #expect(found.count == 2)
    }

    /// Each of these uses `Plan` from the folder that `Plan` uses.
    @Test(arguments: [
        "let plan = Plan()", "extension Plan {}", "func run(_ plan: borrowing Plan) {}",
        "let text = \"the \\(Plan.name)\"", "let text = \"\\(f(\"x\", Plan.self))\"",
        "let text = #\"\\#(Plan())\"#", "let range = first...Plan.last", "[Plan]()",
        "struct Outer { struct Plan {} }",
    ])
    func aUseIsFoundInEveryForm(_ line: String) {
        let found = cycles(
            file("Plan/Plan.swift", "struct Plan { let value: Value }"),
            file("Value/Value.swift", "struct Value {}", line))
        #expect(found.count == 2)
    }

    @Test(arguments: [
        "// Plan", "/* Plan */", "let text = \"Plan\"", "let text = \"a \\\" Plan\"",
        "let text = #\"\\(Plan)\"#", "let config = Config.Plan()", "let plan = PlanText()",
        "private struct Plan {}",
    ])
    func whatUsesNoTypeOfTheOtherFolderIsNoCycle(_ line: String) {
        let found = cycles(
            file("Plan/Plan.swift", "struct Plan { let value: Value }"),
            file("Value/Value.swift", "struct Value {}", line))
        #expect(found.isEmpty)
    }

    @Test func aPrivateTypeIsNotSeenByOtherFiles() {
        let found = cycles(
            file("A/A.swift", "private struct Helper {}", "struct A { let b: B }"),
            file("B/B.swift", "struct B { let helper: Helper }"))
        #expect(found.isEmpty)
    }
}
