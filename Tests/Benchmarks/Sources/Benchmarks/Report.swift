import Foundation

/// Measures cases and prints them as tables of Markdown.
struct Report {
    /// One column for each, in this order; a case need not have all.
    static let contenders = [
        "LocalPromise", "Promise", "EventLoopFuture", "TaskGroup", "async let", "callback",
    ]

    var meter = Meter()
    /// Parts of titles and names, to look at less than everything.
    var onlyCase: String?
    var onlyContender: String?
    private(set) var results: [String: [Measured]] = [:]

    /// What was asked of a ratio, and what is hoped for.
    struct Target {
        let title: String
        let reference: String
        let must: Double
        let goal: Double
    }

    func begin() {
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

    /// The ratios that have a target, of both faces.
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
        // What a group of threads allocates differs by a little from run to run.
        let allocations = (abs(measured.allocations) * 10).rounded() / 10
        let isWhole = allocations == allocations.rounded()
        return String(format: "%.0f", measured.median)
            + String(format: isWhole ? ", %.0f" : ", %.1f", allocations)
    }
}
