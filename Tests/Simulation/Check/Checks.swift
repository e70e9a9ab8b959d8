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
        ProbesCheck(record: record, violations: found).check()
        LogCheck(record: record, violations: found).check()
        RecordCheck(record: record, violations: found).check()
        EntryCheck(record: record, violations: found).check()
        QuotaCheck(record: record, violations: found).check()
        AuthCheck(record: record, violations: found).check()
        AuthFailuresCheck(record: record, violations: found).check()
        HandshakesCheck(record: record, violations: found).check()
        checkStreams(of: record, found)
        return found.all
    }

    private static func checkStreams(of record: RunRecord, _ found: ViolationLog) {
        let models = StreamModel.all(in: record)
        guard !models.isEmpty else { return }
        StreamBytesCheck(record: record, models: models, violations: found).check()
        StreamTimesCheck(record: record, models: models, violations: found).check()
        StreamLogCheck(record: record, models: models, violations: found).check()
        StreamHeadersCheck(record: record, models: models, violations: found).check()
    }
}
