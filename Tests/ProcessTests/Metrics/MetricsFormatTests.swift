import Assembly
import Testing

@testable import Process

/// Which format a client gets, by `Accept`.
@Suite struct MetricsFormatTests {
    static let openMetrics = "application/openmetrics-text"

    @Test(arguments: [
        [], ["*/*"], ["text/plain"], ["text/plain; version=0.0.4"], ["text/html, */*;q=0.8"],
        ["\(openMetrics);q=0"], ["\(openMetrics);q=0.4, text/plain;version=0.0.4;q=0.5"],
        // Equal qualities, equally exact: the default.
        ["\(openMetrics), text/plain"], ["\(openMetrics);q=0.5", "text/plain;q=0.5"],
        // Versions that do not exist here, and malformed qualities.
        ["\(openMetrics); version=2.0.0"], ["\(openMetrics);q=1.5"], ["\(openMetrics);q=x"],
        ["\(openMetrics);q=0.1234"], ["application/openmetrics"], ["application"], [""], [",;,"],
        ["application/vnd.google.protobuf;q=0.9, text/plain;q=0.1"],
        // Not acceptable at all: better served than refused.
        ["application/json"], ["text/plain;q=0"],
    ])
    func prometheusIsTheDefault(_ fields: [String]) {
        #expect(MetricsFormat(accept: fields) == .prometheus)
    }

    @Test(arguments: [
        [openMetrics], ["\(openMetrics); version=1.0.0; charset=utf-8"],
        ["\(openMetrics); version=\"1.0.0\""], ["APPLICATION/OpenMetrics-Text;Q=0.2"],
        ["\(openMetrics), */*"], ["\(openMetrics), text/*"],
        ["\(openMetrics);q=0.5, */*;q=0.1"], ["*/*;q=0.1", "\(openMetrics);q=0.2"],
        ["text/plain;q=0.3, \(openMetrics);version=1.0.0;q=0.5"],
        ["application/*, text/plain;q=0.9"],
        // What Prometheus 2.42 and 3 send.
        [
            "\(openMetrics);version=1.0.0,\(openMetrics);version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
        ],
        [
            "\(openMetrics);version=1.0.0;escaping=allow-utf-8;q=0.6,"
                + "\(openMetrics);version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,"
                + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
        ],
    ])
    func openMetricsIsSentWhereItIsPreferred(_ fields: [String]) {
        #expect(MetricsFormat(accept: fields) == .openMetrics)
    }
}
