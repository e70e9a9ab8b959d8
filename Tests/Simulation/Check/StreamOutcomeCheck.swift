import Basics
import Rehearsal

/// The status of a streamed request is that of its host, or has a cause.
struct StreamOutcomeCheck {
    let record: RunRecord

    /// - Parameter request: one that nothing refuses before its endpoint
    func violations(
        of request: RequestRecord, _ endpoint: DrawnEndpoint, _ config: DrawnConfig
    ) -> [Violation] {
        guard let response = request.response, let stream = request.stream,
            let proxy = endpoint.proxy
        else { return [] }
        let model = StreamModel(record, request, stream, nil, nil)
        if let used = model.config, used.generation != config.generation {
            return [Violation(.status, "served under another configuration")]
        }
        if response.status == 101, model.attempts.last?.script.switchesWrongly ?? true {
            return [Violation(.status, "101 to another protocol than the client wanted")]
        }
        if let header = response[StreamResponseDraw.originHeader] {
            return relayed(response, header, model)
        }
        let cause = cause(of: response, model, proxy, config, endpoint)
        return cause == nil ? [] : [Violation(.status, cause ?? "")]
    }

    private func relayed(
        _ response: PeerMessage, _ header: String, _ model: StreamModel
    ) -> [Violation] {
        guard let origin = model.origin, origin.key.ordinal == model.attempts.last?.key.ordinal
        else {
            return [
                Violation(.marks, "the response is \(header), of \(model.attempts.count) attempts")
            ]
        }
        if let refused = mustBeRefused(model, model.proxy) {
            return [Violation(.status, "\(response.status) was relayed, expected \(refused)")]
        }
        let expected = origin.script.upgrade == nil ? origin.script.status : 101
        return response.status == expected
            ? []
            : [Violation(.status, "\(response.status), the host gave \(expected)")]
    }

    /// Statuses with which the gateway must refuse the request before it is relayed; nil for none.
    private func mustBeRefused(_ model: StreamModel, _ proxy: DrawnProxy?) -> [Int]? {
        let request = model.request.request
        if request.hasAmbiguousPath || proxy.map(request.isRefusedPath) == true {
            return [400, 503]
        }
        let upload = model.stream.script.upload
        if let most = proxy?.maxBody, upload.framing == .length, upload.length > most {
            return [413, 503]
        }
        return nil
    }

    /// What is wrong with the gateway's own response; nil if it has a cause.
    private func cause(
        of response: PeerMessage, _ model: StreamModel, _ proxy: DrawnProxy, _ config: DrawnConfig,
        _ endpoint: DrawnEndpoint
    ) -> String? {
        let status = response.status
        if let refused = mustBeRefused(model, proxy) {
            if !model.attempts.isEmpty { return "\(status), but the request was sent to a host" }
            return refused.contains(status) ? nil : "\(status), expected one of \(refused)"
        }
        let upload = model.stream.script.upload
        let request = model.request
        let isFitting: Bool
        switch status {
        case 400:
            let isCutShort = model.stream.halfClosed != nil && !model.stream.isSentWhole
            isFitting = upload.isBroken || isCutShort
        case 408:
            isFitting = record.excuses.add(.slowClient, request, if: model.mayWaitForBody(proxy))
        case 413: isFitting = proxy.maxBody.map { model.stream.sent > $0 } ?? false
        case 502:
            isFitting = record.excuses.add(
                .lostConnection, request, if: model.mayFail(config, proxy))
        case 503:
            isFitting =
                record.excuses.add(.serverLimit, request, if: model.mayOverload(config, endpoint))
                && response["Retry-After"] != nil
        case 504: return headMissed(model, proxy)
        default: isFitting = false
        }
        return isFitting ? nil : "\(status) without a cause"
    }

    /// A timeout although the head of a response had arrived.
    private func headMissed(_ model: StreamModel, _ proxy: DrawnProxy) -> String? {
        guard let last = model.attempts.last, let head = last.headRead,
            let responded = model.request.responded, head < responded,
            last.script.interim.count < 16
        else { return nil }
        let mayBeRepeated = proxy.retry?.repeats("\(last.script.status)") ?? false
        return mayBeRepeated ? nil : "504, although a head had arrived"
    }
}

extension BodyScript {
    /// The gateway cannot read it to its end.
    fileprivate var isBroken: Bool {
        switch ending {
        case .ends, .malformed: true
        case .complete, .stalls, .resets: false
        }
    }
}

extension ScriptedRequest {
    /// Whether an endpoint refuses the path because some server reads another one. Unusual paths that are
    /// drawn are unusual in every way, or name the protected folder.
    func isRefusedPath(by proxy: DrawnProxy) -> Bool {
        guard proxy.hasRest, proxy.refusesUnusualPaths, let target, let endpoint else {
            return false
        }
        let rest = target.dropFirst("/e\(endpoint)".utf8.count)
        return !StreamRequestDraw.usualRests.contains(String(rest))
    }

    /// No server may get it.
    var hasAmbiguousPath: Bool {
        guard let target else { return false }
        return ["/../x", "/%2e%2E/", "\\", "%00", "/..;/"].contains { target.contains($0) }
    }
}

extension StreamModel {
    /// Whether the gateway may have waited for a part of the body from the client.
    fileprivate func mayWaitForBody(_ proxy: DrawnProxy) -> Bool {
        guard stream.script.upload.framing != .none,
            !attempts.isEmpty || record.isSlow || mayBeUnread(proxy)
        else { return false }
        return !request.request.expectsContinue || stream.interim.contains { $0.status == 100 }
    }

    /// Whether the connection to the host may be one of an earlier request: a host does not read on where that
    /// request ended in a pause.
    private func mayBeUnread(_ proxy: DrawnProxy) -> Bool {
        record.streamAttempts.contains { earlier in
            guard earlier.arrived < request.began, !earlier.script.reading.pauses.isEmpty,
                request.worker == nil || request.worker == earlier.worker
            else { return false }
            let config = record.configs[earlier.key.generation]
            return config.endpoints[earlier.key.endpoint].proxy?.backend == proxy.backend
        }
    }

    /// Whether a host may have failed the request.
    fileprivate func mayFail(_ config: DrawnConfig, _ proxy: DrawnProxy) -> Bool {
        if config.streamBackends[proxy.backend].refusedShare > 0, record.rates[.refusals] > 0 {
            return true
        }
        return attempts.contains { attempt in
            attempt.script.outcome != .responds && attempt.script.outcome != .silent
                || attempt.script.switchesWrongly || attempt.script.interim.count > 16
                || attempt.wasReset
                || attempt.before > 0
        } || record.rates[.idleLosses] > 0
    }

    /// Whether a limit may have refused the request.
    fileprivate func mayOverload(_ config: DrawnConfig, _ endpoint: DrawnEndpoint) -> Bool {
        guard let proxy = endpoint.proxy else { return false }
        let backend = config.streamBackends[proxy.backend]
        return config.limits.limitsConnections || config.limits.requestsInFlight != nil
            // Checked with the head of the response, so that a reload applies it to earlier requests.
            || record.configs.contains { $0.limits.streams != nil } || record.mayLackRoom
            || endpoint.maxInFlight != nil
            || backend.maxConcurrent != nil || backend.breaker != nil
            || QuotaModel(request: request.request, config: config).mayOverload
    }
}
