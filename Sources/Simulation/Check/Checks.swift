/// Runs all checkers on the record of a run.
enum Checks {
    static func violations(in record: RunRecord) -> [Violation] {
        let found = ViolationLog()
        AnswersCheck(record: record, violations: found).run()
        OutcomeCheck(record: record, violations: found).run()
        TimesCheck(record: record, violations: found).run()
        CancellationCheck(record: record, violations: found).run()
        CallsCheck(record: record, violations: found).run()
        LimitsCheck(record: record, violations: found).run()
        BreakerCheck(record: record, violations: found).run()
        RetryBudgetCheck(record: record, violations: found).run()
        HostsCheck(record: record, violations: found).run()
        ProbesCheck(record: record, violations: found).run()
        LogCheck(record: record, violations: found).run()
        return found.all
    }
}
