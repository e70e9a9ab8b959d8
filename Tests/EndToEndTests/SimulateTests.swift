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

        @Test func simulatesAConfiguration() throws {
            let arguments = ["good.yaml", "--requests", "50"]
            let first = try run(arguments)
            #expect(first.status == 0 && first.errors.isEmpty)
            #expect(first.output.hasPrefix("50 requests in "))
            #expect(first.output.contains("GET /home\n"))
            #expect(try run(arguments) == first)
        }

        @Test func latencyAndRateAreOptions() throws {
            let result = try run([
                "good.yaml", "--requests", "20", "--rate", "1000", "--latency", "*: 250ms",
                "--optional", "*: 100%",
            ])
            #expect(result.status == 0)
            #expect(result.output.contains("   501."), "two calls of 250 ms, one after the other")
        }

        @Test func exitsWith1IfAnExpectationIsNotMet() throws {
            let arguments = ["good.yaml", "--requests", "20", "--latency", "*: 250ms"]
            let met = try run(arguments + ["--expect", "p99<600ms, ok>=100%"])
            #expect(met.status == 0 && met.errors.isEmpty)
            let missed = try run(
                arguments + ["--expect", "ok>99%, GET /home: p50<300ms", "--format", "json"])
            #expect(missed.status == 1 && missed.output.hasPrefix("{"))
            #expect(missed.errors.hasPrefix("expected GET /home: p50<300ms: p50 is 501."))
        }

        @Test(arguments: [
            ["--faults", "unknown: timeout 10%"], ["--requests", "0"], ["--trace"],
            ["--only", "99", "--requests", "5"], ["--rate", "0"], ["--latency", "users: slow"],
            ["--optional", "lang: 10%"], ["--pieces", "users: 1"], ["--rhythm", "users: 1KiB"],
            ["--upload-pieces", "*: 1MiB", "--requests", "1000"], ["--claims", "[]"],
            ["--claims", "{"], ["--expect", "p99"], ["--expect", "GET /no: ok>1%"],
            ["--only", "1", "--format", "json"], ["--only", "1", "--expect", "ok>1%"],
        ]) func reportsUsageErrors(_ arguments: [String]) throws {
            let result = try run(["good.yaml"] + arguments)
            #expect(result.status == 64 && result.errors.hasPrefix("Error: "))
        }

        @Test(arguments: [["--seed", "1"], ["good.yaml", "--seeds", "2"]])
        func daemonHasNoRandomClusters(_ arguments: [String]) throws {
            let result = try run(arguments)
            #expect(result.status == 64 && result.errors.hasPrefix("Error: "))
        }
    }

    /// The executable for developers.
    @Suite struct ClusterSimulationTests {
        private func run(_ arguments: [String]) throws -> Command.Result {
            let command = try Command(
                arguments, program: try Binary.url("cluster-simulation"))
            let status = try command.exitStatus()
            return Command.Result(
                status: status, output: try command.output.whole(),
                errors: try command.errors.whole())
        }

        /// The line of the result, behind what the seeds reached.
        private func lastLine(of result: Command.Result) -> Substring {
            result.output.split(separator: "\n").last ?? ""
        }

        @Test func acceptsTheLastSeed() throws {
            let result = try run(["--seed", "18446744073709551615", "--seeds", "2"])
            #expect(result.status == 0 && lastLine(of: result).hasPrefix("2 seeds, "))
        }

        @Test func runsSeedsAndCountsFailures() throws {
            let result = try run(["--seed", "1", "--seeds", "3"])
            #expect(result.status == 0)
            let line = lastLine(of: result)
            #expect(line.hasPrefix("3 seeds, ") && line.hasSuffix(": 0 failed"))
        }

        @Test func traceShowsConfigurationAndEvents() throws {
            let result = try run(["--seed", "17", "--trace"])
            #expect(result.status == 0 && result.output.hasPrefix("version: 1\n"))
            #expect(result.output.contains(" ms  client "))
        }

        @Test(arguments: [["--requests", "0"], ["--without", "rain"], ["--connections", "a"]])
        func rejectsInvalidOptions(_ arguments: [String]) throws {
            let result = try run(arguments)
            #expect(result.status == 64 && result.errors.hasPrefix("Error: "))
        }
    }
}
