import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// Requests and responses between two sessions in memory.
@Suite struct ExchangeTests {
    /// However the bytes are cut, the result is the same.
    @Test(arguments: [Int.max, 1, 7, 100])
    func carriesRequestAndResponse(_ piece: Int) throws {
        let pair = try SessionPair()
        pair.piece = piece
        pair.server.onRequest = { $0.respond(.ok, ["Content-Type": "text/plain"], body: "hello") }
        let request = try pair.client.request(.get, "/a?b=c", ["X-One": "1", "Cookie": "d=e"])
        pair.run()
        #expect(pair.server.log == ["1 GET /a?b=c end"])
        let head = try #require(pair.server.streams.first?.request)
        #expect(head.version == .http2 && head.framing == .none)
        #expect(head.fields[.host] == "a" && head.fields["X-One"] == "1")
        #expect(head.fields[.cookie] == "d=e")
        #expect(request.responses.map(\.status) == [.ok])
        #expect(request.responses.first?.fields[.contentType] == "text/plain")
        #expect(request.text == "hello" && request.hasEnded && request.closed == .noError)
        #expect(pair.server.streams.first?.hasSentEnd == true)
        #expect(pair.server.streams.first?.closed == .noError)
        #expect(pair.server.session.streams.isEmpty && pair.client.session.streams.isEmpty)
    }

    @Test(arguments: [Int.max, 1])
    func carriesBodies(_ piece: Int) throws {
        let pair = try SessionPair()
        pair.piece = piece
        let request = try pair.client.request(
            .post, "/", ["Content-Length": "5"], endsStream: false)
        let stream = try #require(request.stream)
        pair.client.session.sendPiece(
            Array("he".utf8).span, on: stream, at: Instant(nanoseconds: 0))
        pair.run()
        let received = try #require(pair.server.streams.first)
        #expect(received.request?.framing == .length(5))
        #expect(received.text == "he" && !received.hasEnded && request.drained == 1)
        pair.client.session.sendPiece(
            Array("llo".utf8).span, on: stream, at: Instant(nanoseconds: 0))
        pair.client.session.endBody(of: stream, trailers: Fields())
        pair.run()
        #expect(received.text == "hello" && received.hasEnded && received.closed == nil)
        received.respond(body: "ok")
        pair.run()
        #expect(request.text == "ok" && request.closed == .noError)
    }

    @Test func carriesTrailersInBothDirections() throws {
        let pair = try SessionPair()
        let request = try pair.client.request(.post, endsStream: false)
        let stream = try #require(request.stream)
        pair.client.session.sendPiece(Array("x".utf8).span, on: stream, at: Instant(nanoseconds: 0))
        pair.client.session.endBody(of: stream, trailers: ["X-Up": "1"])
        pair.run()
        let received = try #require(pair.server.streams.first)
        #expect(received.request?.framing == .chunked, "the length is not stated")
        #expect(received.trailers == ["x-up": "1"])
        let answer = try #require(received.stream)
        pair.server.session.sendResponse(
            .ok, lines: Fields().wireText, on: answer, endsStream: false)
        pair.server.session.sendPiece(Array("y".utf8).span, on: answer, at: Instant(nanoseconds: 0))
        pair.server.session.endBody(of: answer, trailers: ["X-Down": "2"])
        pair.run()
        #expect(request.text == "y" && request.trailers == ["x-down": "2"])
        #expect(request.hasEnded && request.closed == .noError)
    }

    @Test func sendsTrailersWithoutABody() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { received in
            guard let stream = received.stream else { return }
            received.side.session.sendResponse(
                .ok, lines: Fields().wireText, on: stream, endsStream: false)
            received.side.session.endBody(of: stream, trailers: ["X-Status": "0"])
        }
        let request = try pair.client.request()
        pair.run()
        #expect(request.trailers == ["x-status": "0"] && request.closed == .noError)
    }

    @Test func sendsInterimResponsesBeforeTheFinalOne() throws {
        let pair = try SessionPair()
        let request = try pair.client.request(
            .post, "/", ["Expect": "100-continue"], endsStream: false)
        pair.run()
        let received = try #require(pair.server.streams.first)
        #expect(received.request?.expectsContinue == true)
        received.respond(.continue)
        pair.run()
        #expect(request.responses.map(\.status) == [.continue])
        let stream = try #require(request.stream)
        pair.client.session.sendBody(Bytes("hello"), on: stream, at: Instant(nanoseconds: 0))
        pair.run()
        received.respond(body: "done")
        pair.run()
        #expect(request.responses.map(\.status) == [.continue, .ok])
        #expect(received.text == "hello" && request.text == "done")
    }

    /// Both heads are sent in one call.
    @Test func sendsAResponseWithoutABodyBehindAnInterimOne() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { received in
            received.respond(.continue)
            received.respond()
        }
        let request = try pair.client.request()
        pair.run()
        #expect(request.responses.map(\.status) == [.continue, .ok])
        #expect(request.hasEnded && request.closed == .noError)
    }

    @Test func respondsToHeadWithoutABody() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { $0.respond(.ok, ["Content-Length": "5"]) }
        let request = try pair.client.request(.head)
        pair.run()
        #expect(request.responses.first?.fields[.contentLength] == "5")
        #expect(request.responses.first?.framing == BodyFraming.none)
        #expect(request.hasEnded && request.closed == .noError && request.body.isEmpty)
    }

    @Test func carriesManyStreamsAtOnce() throws {
        let pair = try SessionPair()
        let requests = try (0..<100).map { try pair.client.request(.get, "/\($0)") }
        pair.run()
        #expect(pair.server.streams.count == 100)
        // In another order than that of the requests.
        for received in pair.server.streams.reversed() {
            received.respond(body: "\(received.request?.target.text ?? Bytes())".description)
        }
        pair.run()
        #expect(requests.allSatisfy { $0.closed == .noError && $0.responses.count == 1 })
        #expect(pair.server.session.streams.isEmpty)
    }

    /// Beyond the limit of the other side, the client waits.
    @Test func opensNoMoreStreamsThanAllowed() throws {
        var limits = H2Limits()
        limits.streams = 2
        let pair = try SessionPair(server: limits)
        pair.run()
        let requests = try (0..<3).map { try pair.client.request(.get, "/\($0)") }
        pair.run()
        #expect(pair.server.streams.count == 2)
        pair.server.streams[0].respond()
        pair.run()
        #expect(pair.server.streams.count == 3)
        for received in pair.server.streams.dropFirst() { received.respond() }
        pair.run()
        #expect(requests.allSatisfy { $0.closed == .noError })
    }

    @Test func resetsAStreamAndKeepsTheConnection() throws {
        let pair = try SessionPair()
        let first = try pair.client.request()
        let second = try pair.client.request()
        pair.run()
        let stream = try #require(first.stream)
        pair.client.session.reset(stream, .cancel)
        pair.run()
        #expect(first.closed == .cancel && pair.server.streams[0].closed == .cancel)
        pair.server.streams[1].respond(body: "ok")
        pair.run()
        #expect(second.text == "ok" && second.closed == .noError)
    }

    @Test func sendsNothingBehindAReset() throws {
        let pair = try SessionPair()
        let request = try pair.client.request()
        pair.run()
        let received = try #require(pair.server.streams.first)
        let stream = try #require(received.stream)
        received.side.session.sendResponse(
            .ok, lines: Fields().wireText, on: stream, endsStream: false)
        received.side.session.sendPiece(
            Array("part".utf8).span, on: stream, at: Instant(nanoseconds: 0))
        received.side.session.reset(stream, .internalError)
        received.side.session.sendPiece(
            Array("more".utf8).span, on: stream, at: Instant(nanoseconds: 0))
        received.side.session.endBody(of: stream, trailers: Fields())
        pair.run()
        #expect(request.closed == .internalError && !request.hasEnded)
        #expect(pair.server.session.queuedBytes == 0)
    }

    /// A response before the end of the request is complete for the client.
    @Test func endsARequestWhoseBodyIsNotNeeded() throws {
        let pair = try SessionPair()
        let request = try pair.client.request(.post, endsStream: false)
        pair.run()
        let received = try #require(pair.server.streams.first)
        received.respond(.contentTooLarge, body: "too large")
        pair.run()
        #expect(received.hasSentEnd && received.closed == nil)
        let stream = try #require(received.stream)
        pair.server.session.reset(stream, .noError)
        pair.run()
        #expect(request.text == "too large" && request.hasEnded && request.closed == .noError)
    }

    @Test func lowercasesNamesAndOmitsUniqueValuesFromTheTable() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { $0.respond() }
        func size(_ number: Int, _ name: FieldName) throws -> Int {
            _ = try pair.client.request(.get, "/", [name: FieldValue(UInt64(1_000_000 + number))])
            pair.client.write()
            let count = pair.client.written.count
            pair.run()
            return count
        }
        _ = try size(0, "X-Other")
        #expect(try size(0, "X-Other") < size(1, "X-Other"), "a repeated value is in the table")
        _ = try size(0, "X-Request-Id")
        #expect(try size(0, "X-Request-Id") == size(1, "X-Request-Id"))
        #expect(pair.server.streams.last?.request?.fields.contains("x-request-id") == true)
    }

    @Test func failsAHeadThatIsTooLargeToSend() throws {
        var limits = H2Limits()
        limits.sentHeadBytes = 1000
        let pair = try SessionPair(server: limits)
        pair.server.onRequest = {
            $0.respond(.ok, ["X": FieldValue(String(repeating: "x", count: 2000)) ?? ""])
        }
        let request = try pair.client.request()
        pair.run()
        #expect(request.closed == .internalError && request.responses.isEmpty)
    }

    @Test func acknowledgesPings() throws {
        let pair = try SessionPair()
        pair.server.session.sendPing()
        pair.run()
        #expect(pair.server.log == ["pong"])
    }
}
