import Testing

extension EndToEnd {
    @Suite struct SimulateTests {
        private func run(_ arguments: [String]) throws -> Command.Result {
            let folder = try Folder(["good.yaml": CheckTests.good])
            let command = try Command(["simulate"] + arguments, in: folder.url)
            let status = try command.exitStatus()
            return Command.Result(
                status: status, output: try command.output.whole(),
                errors: try command.errors.whole())
        }

        @Test func aConfigurationIsRehearsed() throws {
            let arguments = ["good.yaml", "--requests", "50"]
            let first = try run(arguments)
            #expect(first.status == 0 && first.errors.isEmpty)
            #expect(first.output.hasPrefix("50 requests in "))
            #expect(first.output.contains("GET /home\n"))
            #expect(try run(arguments) == first)
        }

        @Test func seedsOfTheGatewayItselfPass() throws {
            let result = try run(["--seed", "1", "--seeds", "3"])
            #expect(result.status == 0)
            #expect(result.output.hasPrefix("3 seeds, ") && result.output.hasSuffix(": 0 failed\n"))
        }

        @Test(arguments: [
            ["--faults", "nobody: timeout 10%"], ["--requests", "0"], ["--trace"],
            ["--only", "99", "--requests", "5"],
        ]) func wrongUsageIsSaid(_ arguments: [String]) throws {
            let result = try run(["good.yaml"] + arguments)
            #expect(result.status == 64 && result.errors.hasPrefix("Error: "))
        }
    }
}
