import Basics
import Gateway
import HTTP
import Testing
import WorkerSupport

@testable import Assembly

/// The counts of workers, and their sum.
@Suite struct WorkerMetricsTests {
    @Test func aRecordIsFoldedInOnePass() throws {
        let meter = FullMeter.meter
        let endpoint = try #require(meter.endpoints.first)
        #expect(endpoint.statuses.map(\.code) == [200])
        #expect(endpoint.durations.histogram.sum == 30_000)
        // 4 ms before the call and 6 ms after it.
        #expect(endpoint.ownTimes.sum == 10_000)
        let call = try #require(meter.calls.first)
        #expect(call.succeeded == 1 && call.durations.histogram.sum == 20_000)
        #expect(call[.hedge] == 1 && call[.first] == 0 && call[.none] == 0)
        #expect(call.retries == 0)
    }

    @Test func paddedEndpointsShowNoTimesButTheirTotal() throws {
        var meter = WorkerMetrics(
            endpointNames: [FullMeter.endpoint], calls: [CallLabels(backend: "a")])
        meter.count(
            FullMeter.record(padded: true), endpoint: 0, CountedEnd(200, .ok, FullMeter.exemplar()))
        #expect(meter.endpoints[0].durations.histogram.count == 1)
        #expect(meter.endpoints[0].ownTimes.count == 0)
        #expect(meter.calls[0].durations.histogram.count == 0)
        #expect(meter.calls[0].durations.exemplars.allSatisfy { $0 == nil })
        #expect(meter.calls[0].succeeded == 1)
    }

    @Test func slotsThatAreUnknownCountNothing() {
        var meter = WorkerMetrics()
        meter.count(
            FullMeter.record(), endpoint: 7, CountedEnd(404, .rejected, FullMeter.exemplar()))
        #expect(meter.elsewhere.statuses.map(\.code) == [404])
        #expect(meter.calls.isEmpty)
        meter.count(
            RequestRecord(), endpoint: nil, CountedEnd(499, .clientGone, FullMeter.exemplar()))
        #expect(meter.elsewhere.statuses.map(\.code) == [404, 499])
        #expect(meter.elsewhere.durations.histogram.count == 1)
    }

    @Test func theSumOfWorkersMatchesByName() throws {
        var sum = FullMeter.meter
        var other = WorkerMetrics(
            endpointNames: ["GET /other", FullMeter.endpoint],
            calls: [CallLabels(backend: "b"), CallLabels(backend: "a")],
            hosts: [HostLabels(backend: "a", host: "h:1"), HostLabels(backend: "b", host: "i:1")])
        other.count(
            FullMeter.record(), endpoint: 1,
            CountedEnd(502, .failed, FullMeter.exemplar(), bodyBytes: 5))
        other.count(
            FullMeter.record(), endpoint: 0, CountedEnd(200, .partial, FullMeter.exemplar()))
        sum.add(other)
        #expect(sum.endpoints.map(\.name) == [FullMeter.endpoint, "GET /other"])
        #expect(sum.endpoints[0].statuses.map(\.code) == [200, 502])
        #expect(sum.endpoints[0].durations.histogram.count == 2)
        #expect(sum.endpoints[0].ownTimes.sum == 20_000)
        #expect(sum.endpoints[1].partial == 1)
        #expect(sum.calls.map(\.labels.backend) == ["a", "b"])
        // Slot 0 of the other worker is backend b.
        #expect(sum.calls.map(\.succeeded) == [1, 2])
        #expect(sum.calls[1][.hedge] == 2)
        #expect(sum.hosts.map(\.labels.host) == ["h:1", "i:1"])
        #expect(sum.hosts.map(\.succeeded) == [3, 0] && sum.hosts.map(\.cancelled) == [3, 0])
        #expect(sum.endpoints[0].bytesSent == 12)
        #expect(sum[.http11] == 3 && sum[.http2] == 0)
    }

    @Test func eachBucketKeepsItsLatestExemplar() throws {
        var first = HistogramWithExemplars(.durations)
        var second = first
        first.record(30_000, FullMeter.exemplar(1, at: 50))
        first.record(400, FullMeter.exemplar(2, at: 51))
        second.record(31_000, FullMeter.exemplar(3, at: 60))
        second.record(300, FullMeter.exemplar(4, at: 40))
        for sum in [first.adding(second), second.adding(first)] {
            #expect(sum.histogram.count == 4)
            #expect(sum.exemplars.compactMap { $0?.value } == [400, 31_000])
        }
        first.record(29_000, FullMeter.exemplar(5, at: 70))
        #expect(first.exemplars.compactMap { $0?.value } == [400, 29_000])
    }

    @Test func aCopyDoesNotChangeWithItsOriginal() {
        var meter = FullMeter.meter
        let copy = meter.copy
        meter.count(FullMeter.record(), endpoint: 0, CountedEnd(200, .ok, FullMeter.exemplar()))
        #expect(copy.endpoints[0].durations.histogram.count == 1)
        #expect(copy.calls[0].succeeded == 1 && meter.calls[0].succeeded == 2)
    }

    // MARK: Histogram

    @Test func valuesOnABoundBelongToItsBucket() {
        for (value, bucket) in [(-5, 0), (0, 0), (500, 0), (501, 1), (10_000_000, 13)] {
            var histogram = Histogram(.durations)
            #expect(histogram.record(Int64(value)) == bucket)
            #expect(histogram.counts[bucket] == 1 && histogram.count == 1)
        }
        var histogram = Histogram(.durations)
        #expect(histogram.record(.max) == 14)
        histogram.record(.max)
        #expect(histogram.count == 2, "the sum wraps around")
    }
}

extension HistogramWithExemplars {
    fileprivate func adding(_ other: HistogramWithExemplars) -> HistogramWithExemplars {
        var sum = self
        sum.add(other)
        return sum
    }
}
