import Basics

// The process: its version, its resources, its configuration, its log, its spans.
extension MetricsWriter {
    /// Names that begin with `process_` come from Prometheus' client libraries.
    mutating func writeProcess(_ facts: ProcessFacts) {
        family("tributary_build_info", .info, "Version of this build; the value is always 1.")
        sample(MetricLabels("version", facts.version), 1)
        if let usage = facts.usage {
            family("process_cpu_seconds_total", .counter, "User and system CPU time.")
            sample(usage.cpuSeconds)
            family("process_resident_memory_bytes", .gauge, "Resident memory.")
            sample(usage.residentBytes)
        }
        family("process_start_time_seconds", .gauge, "Start of the process, since 1970.")
        sample(Self.seconds(facts.startedAt))
        if let open = facts.descriptors.open {
            family("process_open_fds", .gauge, "Open file descriptors.")
            sample(open)
        }
        family("process_max_fds", .gauge, "Limit on open file descriptors.")
        sample(facts.descriptors.limit)
    }

    mutating func writeConfiguration(_ facts: ProcessFacts) {
        family(
            "tributary_config_info", .info,
            "Digest of the configuration in use; the value is always 1.")
        sample(MetricLabels("digest", facts.digest), 1)
        let reloads = facts.reloads
        family(
            "tributary_config_reloads_total", .counter, "Reloads of the configuration, by result.")
        sample(MetricLabels("result", "succeeded"), reloads.succeeded)
        sample(MetricLabels("result", "failed"), reloads.failed)
        family(
            "tributary_config_last_reload_successful", .gauge,
            "1 if the last reload succeeded, or if there was none.")
        sample(reloads.isLastSuccessful ? 1 : 0)
        family(
            "tributary_config_last_reload_timestamp_seconds", .gauge,
            "When the configuration in use was loaded, since 1970.")
        sample(Self.seconds(reloads.loadedAt))
    }

    mutating func writeLog(_ log: LogCounts) {
        family(
            "tributary_log_lines_dropped_total", .counter,
            "Log lines that were not written because their queue was full or writing failed.")
        sample(log.linesDropped)
        family(
            "tributary_log_queue_bytes", .gauge, "Log lines that wait for the output, in bytes.")
        sample(log.bytesQueued)
        family("tributary_log_queue_bytes_limit", .gauge, "Limit on tributary_log_queue_bytes.")
        sample(log.bytesMax)
    }

    mutating func writeSpans(_ spans: SpanCounts) {
        family(
            "tributary_spans_exported_total", .counter, "Spans that the collector has accepted.")
        sample(spans.exported)
        family("tributary_spans_dropped_total", .counter, "Spans that were lost, by reason.")
        for loss in SpanCounts.Loss.allCases {
            sample(MetricLabels("reason", loss.rawValue), spans[loss])
        }
    }

    /// In milliseconds, which a `Double` holds exactly.
    private static func seconds(_ nanoseconds: Int64) -> Double {
        Double(nanoseconds / 1_000_000) / 1000
    }
}
