/// Runs all checkers on the record of a run.
enum Checks {
    static func violations(in record: RunRecord) -> [Violation] {
        let found = ViolationLog()
        ResponsesCheck(record: record, violations: found).check()
        OutcomeCheck(record: record, violations: found).check()
        TimesCheck(record: record, violations: found).check()
        CancellationCheck(record: record, violations: found).check()
        CallsCheck(record: record, violations: found).check()
        LimitsCheck(record: record, violations: found).check()
        BreakerCheck(record: record, violations: found).check()
        RetryBudgetCheck(record: record, violations: found).check()
        HostsCheck(record: record, violations: found).check()
        ProbesCheck(record: record, violations: found).check()
        LogCheck(record: record, violations: found).check()
        RecordCheck(record: record, violations: found).check()
        EntryCheck(record: record, violations: found).check()
        QuotaCheck(record: record, violations: found).check()
        AuthCheck(record: record, violations: found).check()
        AuthFailuresCheck(record: record, violations: found).check()
        return found.all
    }
}
