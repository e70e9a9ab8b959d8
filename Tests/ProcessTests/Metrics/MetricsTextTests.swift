import Assembly
import Testing
import WorkerSupport

@testable import Process

/// The page of metrics in both text formats.
@Suite struct MetricsTextTests {
    @Test(arguments: [MetricsFormat.prometheus, .openMetrics])
    func thePageIsValid(_ format: MetricsFormat) throws {
        let page = try ExpositionText(FullPage.text(format), format)
        #expect(page.families.count > 40)
        #expect(
            page.value(
                "tributary_requests_total", ["endpoint": FullMeter.endpoint, "status": "200"]) == 1)
        #expect(page.value("tributary_build_info", ["version": "1.2.3"]) == 1)
        #expect(page.value("tributary_config_info", ["digest": "0123456789abcdef"]) == 1)
        #expect(page.value("process_start_time_seconds") == 1_700_000_000.123)
        #expect(page.value("tributary_config_last_reload_timestamp_seconds") == 1_700_000_000.5)
    }

    /// The same names and values; only the lines about families differ, and exemplars.
    @Test func bothFormatsHaveTheSameSamples() throws {
        func samples(_ format: MetricsFormat) throws -> [String] {
            try ExpositionText(FullPage.text(format), format).samples.map {
                "\($0.name) \($0.labels.sorted { $0.key < $1.key }) \($0.value)"
            }
        }
        #expect(try samples(.prometheus) == samples(.openMetrics))
    }

    @Test func openMetricsNamesFamiliesUnitsAndInformation() throws {
        let page = try ExpositionText(FullPage.text(.openMetrics), .openMetrics)
        func family(_ name: String) throws -> ExpositionText.Family {
            try #require(page.families.first { $0.name == name }, "\(name)")
        }
        #expect(try family("tributary_requests").type == "counter")
        #expect(try family("tributary_build").type == "info")
        #expect(try family("tributary_request_duration_seconds").unit == "seconds")
        #expect(try family("process_cpu_seconds").unit == "seconds")
        #expect(try family("tributary_buffered_bytes").unit == "bytes")
        #expect(try family("tributary_buffered_bytes_limit").unit == "")
    }

    /// 30 ms fall into the bucket up to 50 ms; the request ended a second before the page.
    @Test func exemplarsNameTheTraceOfTheirBucket() throws {
        let page = try ExpositionText(FullPage.text(.openMetrics), .openMetrics)
        let buckets = page.samples.filter {
            $0.name == "tributary_request_duration_seconds_bucket" && $0.exemplar != nil
        }
        #expect(buckets.map { $0.labels["le"] } == ["0.05"])
        let exemplar = try #require(buckets.first?.exemplar)
        #expect(exemplar.value == 0.03)
        #expect(exemplar.time == 1_700_000_008)
        #expect(!FullPage.text(.prometheus).contains("trace_id"))
    }

    /// The clocks are never read at the same moment; the exemplar's time must not change with that.
    @Test func anExemplarHasTheSameTimeOnEveryPage() {
        var clock = ExemplarClock(now: FullMeter.ms(1000), unixTime: 5_000_000_000)
        clock.adjust(now: FullMeter.ms(2000), unixTime: 6_000_700_000)
        #expect(clock.unixTime(at: FullMeter.ms(1500)) == 5_500_000_000)
        // The wall clock was set back by ten seconds.
        clock.adjust(now: FullMeter.ms(20_000), unixTime: 14_000_000_000)
        #expect(clock.unixTime(at: FullMeter.ms(20_000)) == 14_000_000_000)
    }

    @Test func histogramsHaveTheDocumentedBuckets() throws {
        let page = try ExpositionText(FullPage.text(), .prometheus)
        func bounds(_ name: String) -> [String] {
            page.samples.filter { $0.name == name + "_bucket" && $0.labels["endpoint"] != "" }
                .compactMap { $0.labels["le"] }
        }
        #expect(
            bounds("tributary_request_duration_seconds") == [
                "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5",
                "1.0", "2.5", "5.0", "10.0", "+Inf",
            ])
        #expect(
            bounds("tributary_call_duration_seconds")
                == bounds("tributary_request_duration_seconds"))
        #expect(
            bounds("tributary_request_own_seconds") == [
                "2.5e-05", "5e-05", "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005",
                "0.01", "0.025", "+Inf",
            ])
        #expect(bounds("tributary_loop_iteration_seconds").contains("0.05"))
    }

    // MARK: The parser

    private static let valid = """
        # TYPE a counter
        # HELP a A.
        a_total{x="1"} 2
        # TYPE b_seconds histogram
        # UNIT b_seconds seconds
        # HELP b_seconds B.
        b_seconds_bucket{le="1.0"} 1 # {trace_id="0123456789abcdef0123456789abcdef"} 0.5 7.5
        b_seconds_bucket{le="+Inf"} 2
        b_seconds_sum 3
        b_seconds_count 2
        # EOF

        """

    @Test func theParserAcceptsAValidPage() throws {
        let page = try ExpositionText(Self.valid, .openMetrics)
        #expect(page.value("a_total", ["x": "1"]) == 2)
        #expect(page.samples.compactMap(\.exemplar).map(\.value) == [0.5])
    }

    /// The control of the tests above: the parser sees what is wrong.
    @Test(arguments: [
        ("# EOF\n", ""), ("# HELP a A.\n", ""), ("a_total{", "a{"), ("x=\"1\"", "x=\"1"),
        ("x=\"1\"", "x=\"\\t\""), ("x=\"1\"", "x=\"1\",x=\"1\""),
        (" 2\n# TYPE b", " two\n# TYPE b"),
        ("# UNIT b_seconds seconds", "# UNIT b_seconds ms"), ("le=\"+Inf\"", "le=\"2.0\""),
        ("le=\"1.0\"} 1", "le=\"1.0\"} 3"), ("_count 2", "_count 3"), ("b_seconds_sum 3\n", ""),
        ("} 0.5 7.5", "} 1.5 7.5"), ("} 0.5 7.5", "} 0.5"), ("trace_id", "trace"),
        ("} 2\n# TYPE", "} 2\na_total{x=\"1\"} 2\n# TYPE"), ("counter", "gauge"),
        ("b_seconds_sum 3", "# HELP c C.\nb_seconds_sum 3"), ("\n# EOF", "\n\n# EOF"),
        ("# TYPE b_seconds", "# HELP a A.\n# TYPE b_seconds"),
    ])
    func theParserIsStrict(_ part: String, _ other: String) throws {
        let text = Self.valid.replacing(part, with: other)
        try #require(text != Self.valid)
        #expect(throws: ExpositionText.Malformed.self) {
            try ExpositionText(text, .openMetrics)
        }
    }
}
