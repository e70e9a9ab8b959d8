import Foundation

/// Prints what was measured as tables of Markdown.
struct Report {
    var meter = Meter()
    /// Parts of titles and names, to look at less than everything.
    var onlyCase: String?
    var onlyContender: String?

    func print(_ one: Case, beside references: [String]) {
        guard onlyCase.map({ one.title.contains($0) }) ?? true else { return }
        var one = one
        one.contenders.removeAll { !(onlyContender.map($0.name.contains) ?? true) }
        let measured = meter.measure(one)
        defer { fflush(nil) }
        Swift.print("\n### \(one.title)\n")
        let heads = references.map { " x \($0) |" }.joined()
        Swift.print("| | ns | allocations |\(heads)")
        Swift.print("|---|---:|---:|\(references.map { _ in "---:|" }.joined())")
        for row in measured {
            let ratios = references.map { name in
                let other = measured.first { $0.name == name }
                return other.map { format(row.ratio(to: $0), digits: 2) } ?? "-"
            }
            Swift.print(
                "| \(row.name) | \(format(row.median, digits: 0)) "
                    + "| \(format(row.allocations, digits: 2)) |"
                    + ratios.map { " \($0) |" }.joined())
        }
    }

    private func format(_ number: Double, digits: Int) -> String {
        var text = String(format: "%.\(digits)f", number)
        if digits > 0, text.hasSuffix(".00") { text.removeLast(3) }
        return text
    }
}
