import Basics
package import Gateway
package import HTTP
import HTTPClient

/// A request that has ended, as the rings keep it: everything of its record but the names, which its
/// endpoint's number refers to. No path, no header, no body.
package struct RecentEntry: Sendable {
    package let sequence: UInt64
    /// The number of its `EndpointActivity`.
    package let endpoint: UInt32
    /// When its head was complete, in nanoseconds of the loop's clock.
    package let began: Int64
    package let status: UInt16
    package let outcome: RequestOutcome
    /// Empty for a request of the sample.
    package let reasons: RetentionReason
    package let ended: Moment
    /// In microseconds.
    package let own: UInt32
    package let receiving: UInt32
    package let store: UInt32
    package let keys: UInt32
    package let calling: UInt32
    package let held: UInt32
    /// When the first part of a response was sent that is sent part by part.
    package let firstPart: Moment
    package let traceHigh: UInt64
    package let traceLow: UInt64
    package let id: RequestID
    package let calls: [Call]
    package let lists: [RecentList]
    /// Of lists only some of those that failed.
    package let attempts: [Attempt]
    /// The first `detailsMax` of the record.
    package let details: [FailureDetail]

    package struct Call: Sendable {
        package let began: Moment
        package let ended: Moment
        package let outcome: CallRecord.Outcome
        package let attempts: UInt16
        /// Its place among the attempts of the entry.
        package let decidingAttempt: Int?
    }

    package struct Attempt: Sendable {
        package let call: Int
        package let cause: AttemptRecord.Cause
        package let outcome: AttemptRecord.Outcome
        package let reusedConnection: Bool
        package let wasResent: Bool
        package let host: Int?
        package let status: UInt16
        package let bodyBytes: UInt32
        package let began: Moment
        package let permitted: Moment
        package let sent: Moment
        package let firstByte: Moment
        package let lastByte: Moment
        package let ended: Moment
    }
}

/// Reading and writing entries as words. Both sides are here, so that they fit.
extension RecentEntry {
    static let callsMax = 128
    static let detailsMax = 8

    /// Appends the words of a request; `words` is empty and has memory from the request before.
    static func write(
        _ context: RequestContext, _ record: RequestRecord, status: UInt16,
        _ outcome: RequestOutcome,
        reasons: RetentionReason, endpoint: UInt32, sequence: UInt64, to words: inout [UInt32]
    ) {
        let (calls, attempts) = (record.calls, record.attempts)
        let callCount = min(calls.count, callsMax)
        let listCount = min(record.lists.count, callsMax)
        let shown = RecentAttempts(record)
        words.append(0)
        words.append(wide: sequence)
        words.append(wide: UInt64(bitPattern: record.began.nanoseconds))
        words.append(endpoint)
        words.append(
            UInt32(status) << 16 | UInt32(outcome.rawValue) << 8 | UInt32(reasons.rawValue))
        let details = shown.details(of: record).prefix(detailsMax)
        words.append(
            UInt32(callCount) << 24 | UInt32(listCount) << 16 | UInt32(details.count) << 8
                | UInt32(shown.count))
        words.append(record.ended.microseconds)
        let times = record.times
        words.append(times.microseconds(.own))
        words.append(times.microseconds(.receiving))
        words.append(times.microseconds(.store))
        words.append(times.microseconds(.keys))
        words.append(times.microseconds(.calling))
        words.append(times.microseconds(.held))
        words.append(record.firstPart.microseconds)
        words.append(wide: context.trace.traceHigh)
        words.append(wide: context.trace.traceLow)
        words.append(context.id)
        for index in 0..<callCount { write(calls[index], shown, to: &words) }
        for index in 0..<listCount {
            RecentList(record.lists[index], attempts).write(to: &words)
        }
        if let places = shown.places {
            for place in places { write(attempts[place], to: &words) }
        } else {
            for place in 0..<shown.count { write(attempts[place], to: &words) }
        }
        for detail in details { write(detail, shown, to: &words) }
        words[0] = UInt32(words.count)
    }

    private static func write(_ call: CallRecord, _ shown: RecentAttempts, to words: inout [UInt32])
    {
        words.append(call.began.microseconds)
        words.append(call.ended.microseconds)
        words.append(UInt32(code(of: call.outcome)) << 16 | UInt32(call.attempts))
        let deciding = call.decidingAttempt.flatMap { shown.index(of: Int($0)) }
        words.append(deciding.map { UInt32($0) } ?? .max)
    }

    private static func write(_ attempt: AttemptRecord, to words: inout [UInt32]) {
        let flags: UInt32 = (attempt.reusedConnection ? 1 : 0) | (attempt.wasResent ? 2 : 0)
        words.append(
            UInt32(attempt.call) << 16 | UInt32(attempt.cause.rawValue) << 12 | flags << 8
                | UInt32(code(of: attempt.outcome)))
        words.append(UInt32(attempt.status) << 16 | UInt32(attempt.host ?? .max))
        words.append(attempt.bodyBytes)
        words.append(attempt.began.microseconds)
        words.append(attempt.permitted.microseconds)
        words.append(attempt.sent.microseconds)
        words.append(attempt.firstByte.microseconds)
        words.append(attempt.lastByte.microseconds)
        words.append(attempt.ended.microseconds)
    }

    private static func write(
        _ detail: FailureDetail, _ shown: RecentAttempts, to words: inout [UInt32]
    ) {
        let attempt = detail.attempt.flatMap { shown.index(of: Int($0)) }
        words.append(UInt32(detail.call) << 16 | UInt32(attempt.map { UInt16($0) } ?? .max))
        words.append(text: detail.text)
    }

    /// 0 none, 1 good, 255 withdrawn, others the kind of failure.
    private static func code(of outcome: CallRecord.Outcome) -> UInt8 {
        switch outcome {
        case .none: 0
        case .succeeded: 1
        case .failed(let kind): kind.rawValue + 2
        }
    }

    private static func code(of outcome: AttemptRecord.Outcome) -> UInt8 {
        switch outcome {
        case .none: 0
        case .answered: 1
        case .withdrawn: 255
        case .failed(let kind): kind.rawValue + 2
        }
    }

    /// Reads the next entry; nil at the end, or if the words are no entry.
    package init?(_ reader: inout WordReader) {
        let begin = reader.offset
        guard let length = reader.next(), let sequence = reader.nextWide(),
            let began = reader.nextWide(), let endpoint = reader.next(), let kind = reader.next(),
            let counts = reader.next(),
            let outcome = RequestOutcome(rawValue: UInt8(truncatingIfNeeded: kind >> 8)),
            let ended = reader.next(), let own = reader.next(), let receiving = reader.next(),
            let store = reader.next(), let keys = reader.next(), let calling = reader.next(),
            let held = reader.next(), let firstPart = reader.nextMoment(),
            let traceHigh = reader.nextWide(), let traceLow = reader.nextWide(),
            let id = reader.nextID()
        else { return nil }
        self.sequence = sequence
        self.began = Int64(bitPattern: began)
        self.endpoint = endpoint
        status = UInt16(kind >> 16)
        self.outcome = outcome
        reasons = RetentionReason(rawValue: UInt8(truncatingIfNeeded: kind))
        self.ended = Moment(microseconds: ended)
        (self.own, self.receiving, self.store, self.keys) = (own, receiving, store, keys)
        (self.calling, self.held) = (calling, held)
        self.firstPart = firstPart
        (self.traceHigh, self.traceLow, self.id) = (traceHigh, traceLow, id)
        var calls: [Call] = []
        for _ in 0..<counts >> 24 {
            guard let call = Call(&reader) else { return nil }
            calls.append(call)
        }
        var lists: [RecentList] = []
        for _ in 0..<counts >> 16 & 0xFF {
            guard let list = RecentList(&reader) else { return nil }
            lists.append(list)
        }
        var attempts: [Attempt] = []
        for _ in 0..<counts & 0xFF {
            guard let attempt = Attempt(&reader) else { return nil }
            attempts.append(attempt)
        }
        var details: [FailureDetail] = []
        for _ in 0..<counts >> 8 & 0xFF {
            guard let detail = FailureDetail(&reader) else { return nil }
            details.append(detail)
        }
        (self.calls, self.lists) = (calls, lists)
        (self.attempts, self.details) = (attempts, details)
        guard reader.offset - begin == Int(length) else { return nil }
    }
}

extension RecentEntry.Call {
    fileprivate init?(_ reader: inout WordReader) {
        guard let began = reader.next(), let ended = reader.next(), let outcome = reader.next(),
            let deciding = reader.next()
        else { return nil }
        self.began = Moment(microseconds: began)
        self.ended = Moment(microseconds: ended)
        attempts = UInt16(truncatingIfNeeded: outcome)
        switch UInt8(truncatingIfNeeded: outcome >> 16) {
        case 0: self.outcome = .none
        case 1: self.outcome = .succeeded
        case let code:
            guard let kind = CallFailureKind(rawValue: code - 2) else { return nil }
            self.outcome = .failed(kind)
        }
        decidingAttempt = deciding == .max ? nil : Int(deciding)
    }
}

extension RecentEntry.Attempt {
    fileprivate init?(_ reader: inout WordReader) {
        guard let first = reader.next(), let second = reader.next(), let bodyBytes = reader.next(),
            let began = reader.nextMoment(), let permitted = reader.nextMoment(),
            let sent = reader.nextMoment(), let firstByte = reader.nextMoment(),
            let lastByte = reader.nextMoment(), let ended = reader.nextMoment(),
            let cause = AttemptRecord.Cause(rawValue: UInt8(first >> 12 & 0xF))
        else { return nil }
        call = Int(first >> 16)
        self.cause = cause
        reusedConnection = first >> 8 & 1 == 1
        wasResent = first >> 9 & 1 == 1
        switch UInt8(truncatingIfNeeded: first) {
        case 0: outcome = .none
        case 1: outcome = .answered
        case 255: outcome = .withdrawn
        case let code:
            guard let kind = CallFailureKind(rawValue: code - 2) else { return nil }
            outcome = .failed(kind)
        }
        status = UInt16(second >> 16)
        let host = UInt16(truncatingIfNeeded: second)
        self.host = host == .max ? nil : Int(host)
        self.bodyBytes = bodyBytes
        (self.began, self.permitted, self.sent) = (began, permitted, sent)
        (self.firstByte, self.lastByte, self.ended) = (firstByte, lastByte, ended)
    }
}

extension FailureDetail {
    fileprivate init?(_ reader: inout WordReader) {
        guard let places = reader.next(), let text = reader.nextText() else { return nil }
        let attempt = UInt16(truncatingIfNeeded: places)
        self.init(
            call: UInt16(truncatingIfNeeded: places >> 16),
            attempt: attempt == .max ? nil : attempt, stored: text)
    }
}
