import Basics
import HTTP
import TLS

/// The page of the admin address: one document, made of the files in `Page`, which the build embeds.
enum PageDocument {
    private static let style = "\n" + compact(PackageResources.page_css, beside: "{};:,")

    /// The parts of the script, which share one scope: constants come before their uses.
    private static let script =
        "\n"
        + [
            PackageResources.state_js, PackageResources.elements_js, PackageResources.texts_js,
            PackageResources.rates_js, PackageResources.filter_js, PackageResources.row_table_js,
            PackageResources.shares_js, PackageResources.trends_js, PackageResources.endpoints_js,
            PackageResources.requests_js,
            PackageResources.detail_js, PackageResources.backends_js, PackageResources.process_js,
            PackageResources.head_js,
            PackageResources.views_js, PackageResources.keys_js, PackageResources.polling_js,
            PackageResources.start_js,
        ].map { compact($0, beside: "=<>&|?:;,{}[]()+-*%!") }.joined(separator: "\n")

    static let html = Bytes(
        compact(PackageResources.page_html, beside: "")
            .replacing("<!-- links -->", with: links)
            .replacing("/* page.css */", with: style)
            .replacing("/* page.js */", with: script))

    /// One link for each page without parameters that a browser can read.
    private static let links = AdminPages.listed.map { "<a href=\"\($0)\">\($0)</a>" }
        .joined(separator: " ")

    /// Names style and script by their hashes (CSP level 3, section 2.3.1).
    static let contentSecurityPolicy =
        FieldValue(
            [
                "default-src 'none'", "script-src \(source(script))", "style-src \(source(style))",
                "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
                "frame-ancestors 'none'",
            ].joined(separator: "; ")) ?? "default-src 'none'"

    private static func compact(_ source: [UInt8], beside punctuation: String) -> String {
        text(CompactText.bytes(of: source, beside: punctuation))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Allows nothing if OpenSSL cannot compute the hash.
    private static func source(_ text: String) -> String {
        guard let hash = SHA256.hash(Array(text.utf8)) else { return "'none'" }
        var base64: [UInt8] = []
        base64.append(base64: hash.span)
        return "'sha256-\(Self.text(base64))'"
    }
}
