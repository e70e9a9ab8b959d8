import Foundation

/// Measures cases and prints them as Markdown tables.
struct Report {
    /// The columns in their order; a case need not have all.
    static let contenders = [
        "LocalPromise", "Promise", "EventLoopFuture", "TaskGroup", "async let", "callback",
    ]

    var meter = Meter()
    /// Parts of titles and names, to select cases and contenders.
    var onlyCase: String?
    var onlyContender: String?
    private(set) var results: [String: [Measured]] = [:]

    /// The required and the desired value of a ratio.
    struct Target {
        let title: String
        let reference: String
        let must: Double
        let goal: Double
    }

    func printHeader() {
        let columns = Report.contenders
        print("| ns, allocations | " + columns.joined(separator: " | ") + " |")
        print("|---|" + columns.map { _ in "---:|" }.joined())
    }

    mutating func add(_ one: Case) {
        guard onlyCase.map({ one.title.contains($0) }) ?? true else { return }
        var one = one
        one.contenders.removeAll { !(onlyContender.map($0.name.contains) ?? true) }
        let measured = meter.measure(one)
        results[one.title] = measured
        let cells = Report.contenders.map { name in
            measured.first { $0.name == name }.map(cell) ?? ""
        }
        print("| \(one.title) | " + cells.joined(separator: " | ") + " |")
        fflush(nil)
    }

    /// Prints the ratios that have a target, for both promise types.
    func compare(with targets: [Target]) {
        print("\n| time of | beside | must | goal | LocalPromise | Promise |")
        print("|---|---|---:|---:|---:|---:|")
        for target in targets {
            guard let measured = results[target.title],
                let reference = measured.first(where: { $0.name == target.reference })
            else { continue }
            let ratios = ["LocalPromise", "Promise"].map { name in
                measured.first { $0.name == name }.map {
                    String(format: "%.2f", $0.ratio(to: reference))
                } ?? ""
            }
            print(
                "| \(target.title) | \(target.reference) | \(target.must) | \(target.goal) | "
                    + ratios.joined(separator: " | ") + " |")
        }
    }

    private func cell(_ measured: Measured) -> String {
        // The allocations of task groups differ slightly from run to run.
        let allocations = (abs(measured.allocations) * 10).rounded() / 10
        let isWhole = allocations == allocations.rounded()
        return String(format: "%.0f", measured.median)
            + String(format: isWhole ? ", %.0f" : ", %.1f", allocations)
    }
}
