import Basics
import Foundation
import Testing

@testable import Process

/// A span as a collector reads it.
struct ReceivedSpan: Equatable {
    let name: String
    /// 1 internal, 2 server, 3 client.
    let kind: Int
    let trace: String
    let id: String
    /// Empty without one.
    let parent: String
    let state: String?
    let flags: Int
    /// Nanoseconds since 1970.
    let began: Int64
    let ended: Int64
    let isError: Bool
    /// Values of whatever type, as text.
    let attributes: [String: String]
    let events: [String]

    /// In milliseconds.
    var duration: Double { Double(ended - began) / 1_000_000 }

    /// The spans of one export, in order.
    static func spans(in body: String) throws -> [ReceivedSpan] {
        let root = try object(JSONSerialization.jsonObject(with: Data(body.utf8)))
        let resources = try objects(root["resourceSpans"])
        return try resources.flatMap { try objects($0["scopeSpans"]) }
            .flatMap { try objects($0["spans"]) }.map(ReceivedSpan.init)
    }

    /// The attributes of the resource.
    static func resource(in body: String) throws -> [String: String] {
        let root = try object(JSONSerialization.jsonObject(with: Data(body.utf8)))
        let resource = try object(try #require(objects(root["resourceSpans"]).first)["resource"])
        return try attributes(resource)
    }

    private init(_ span: [String: Any]) throws {
        name = try #require(span["name"] as? String)
        kind = try #require(span["kind"] as? Int)
        trace = try #require(span["traceId"] as? String)
        id = try #require(span["spanId"] as? String)
        parent = span["parentSpanId"] as? String ?? ""
        state = span["traceState"] as? String
        flags = try #require(span["flags"] as? Int)
        began = try #require((span["startTimeUnixNano"] as? String).flatMap(Int64.init))
        ended = try #require((span["endTimeUnixNano"] as? String).flatMap(Int64.init))
        isError = (span["status"] as? [String: Int])?["code"] == 2
        attributes = try Self.attributes(span)
        events = try Self.objects(span["events"]).compactMap { $0["name"] as? String }
    }

    private static func attributes(_ owner: [String: Any]) throws -> [String: String] {
        var attributes: [String: String] = [:]
        for entry in try objects(owner["attributes"]) {
            let value = try object(entry["value"])
            #expect(value.count == 1)
            let key = try #require(entry["key"] as? String)
            #expect(attributes[key] == nil, "\(key) twice")
            attributes[key] =
                value["stringValue"] as? String ?? value["intValue"] as? String
                ?? (value["boolValue"] as? Bool).map { "\($0)" }
        }
        return attributes
    }

    private static func object(_ value: Any?) throws -> [String: Any] {
        try #require(value as? [String: Any])
    }

    private static func objects(_ value: Any?) throws -> [[String: Any]] {
        try #require(value as? [[String: Any]])
    }
}
