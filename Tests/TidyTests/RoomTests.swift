import Testing

/// A feature has a folder of its own (`Rooms`), and the rules that keep it one.
@Suite struct RoomTests {
    private func gateway() throws -> [Sources.File] {
        try Sources.all().filter { $0.target == "Gateway" }
    }

    @Test func noFeatureUsesAnother() throws {
        let faults = Rooms.usesOfOtherFeatures(try gateway())
        #expect(faults.isEmpty, "\(faults.map(\.description).joined(separator: "\n"))")
    }

    @Test func keysAndChecksUseNothingAboveTheLanguage() throws {
        let faults = Rooms.usesAboveTheLanguage(try gateway())
        #expect(faults.isEmpty, "\(faults.map(\.description).joined(separator: "\n"))")
    }

    // MARK: The rules

    private func file(_ path: String, _ lines: String...) -> Sources.File {
        Sources.File(target: "Gateway", path: "Sources/Gateway/\(path)", lines: lines)
    }

    @Test func theUseOfAnotherFeatureIsAFault() {
        let faults = Rooms.usesOfOtherFeatures([
            file("Features/A/AFilter.swift", "struct A { let plan: BPlan }"),
            file("Features/B/BPlan.swift", "struct BPlan { let rule: C }"),
            file("Features/B/BRule.swift", "struct BRule { let plan: BPlan }"),
            file("Core/C.swift", "struct C { let plan: BPlan }"),
            file("Chain.swift", "struct Chain { let plan: BPlan }"),
        ])
        #expect(faults.map(\.file) == ["Sources/Gateway/Features/A/AFilter.swift"])
    }

    @Test func aSubfolderBelongsToItsFeature() {
        let faults = Rooms.usesOfOtherFeatures([
            file("Features/A/AFilter.swift", "struct A { let store: AStore }"),
            file("Features/A/Store/AStore.swift", "struct AStore { let filter: A; let b: B }"),
            file("Features/B/B.swift", "struct B {}"),
        ])
        #expect(faults.map(\.type) == ["B"])
    }

    /// `LimitCheck` checks a request, not the configuration.
    @Test func aTypeWhoseNameEndsWithCheckIsNoCheckOfTheLanguage() {
        let faults = Rooms.usesAboveTheLanguage([
            file("Features/A/LimitCheck.swift", "struct LimitCheck { let plan: APlan }"),
            file("Features/A/ACheck.swift", "extension ConfigCheck { func a() -> APlan? { nil } }"),
            file("Features/A/APlan.swift", "struct APlan {}"),
        ])
        #expect(faults.map(\.file) == ["Sources/Gateway/Features/A/ACheck.swift"])
    }

    @Test func theUseOfAFilterByKeysAndChecksIsAFault() {
        let faults = Rooms.usesAboveTheLanguage([
            file("Features/A/AKeys.swift", "struct AKeys { let filter: A }"),
            file("Features/A/ACheck.swift", "extension ConfigCheck { func a() -> A? { nil } }"),
            file("Features/A/KeyCheck.swift", "struct KeyCheck { let filter: A }"),
            file("Features/A/A.swift", "struct A { let keys: AKeys }"),
            file("Config/Check.swift", "struct Check { let chain: Chain; let all: Features }"),
            file("Features/Feature.swift", "enum Features {}"),
            file("Chain.swift", "struct Chain { let check: Check }"),
        ])
        #expect(
            faults.map(\.file) == [
                "Sources/Gateway/Features/A/AKeys.swift", "Sources/Gateway/Features/A/ACheck.swift",
                "Sources/Gateway/Config/Check.swift",
            ])
    }

    /// `extension Config { struct Retry {} }` and the filter `Retry`.
    @Test func aNestedTypeOfTheConfigurationIsMeantByItsName() {
        let faults = Rooms.usesAboveTheLanguage([
            file(
                "Features/Retry/RetryKeys.swift", "extension Config {", "    struct Retry {}",
                "    var retry: Retry?", "}"),
            file("Features/Retry/Retry.swift", "struct Retry {}"),
        ])
        #expect(faults.isEmpty)
    }
}
