/// The files of `tls`: one certificate and its key under all names. OpenSSL loads them, but no simulated
/// handshake uses them.
enum TLSFiles {
    /// The content of a file; nil for another one.
    static func content(_ path: String) -> String? {
        path.hasSuffix(".pem") ? certificate : path.hasSuffix(".key") ? key : nil
    }

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBujCCAV+gAwIBAgIUUIQVby97y3H0KrmmOLz9N9VrTDkwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJc2hvcC50ZXN0MCAXDTI2MTEyMzAwMzIxMVoYDzIxMjYxMDMw
        MDAzMjExWjAUMRIwEAYDVQQDDAlzaG9wLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQ48vB6Oj9heIwU9g2+5Ztn3qfIHaF4/1cEYTM5kTPxdrDDyQH+hluE
        ZsPO0m16TCi7Fse1aRm6Jd3eReJ2dK6ao4GMMIGJMB0GA1UdDgQWBBRiRwdL/NTf
        smqH9u6xZ92hG3HdWjAfBgNVHSMEGDAWgBRiRwdL/NTfsmqH9u6xZ92hG3HdWjAP
        BgNVHRMBAf8EBTADAQH/MCEGA1UdEQQaMBiCCXNob3AudGVzdIILKi5zaG9wLnRl
        c3QwEwYDVR0lBAwwCgYIKwYBBQUHAwEwCgYIKoZIzj0EAwIDSQAwRgIhANjQQ+gj
        R2wqk6bCwyFwXdIsLZ/RMH3B/xjC6SqNMXJ9AiEAyEqa1sU0uf+RYEHuPy4+gNC4
        GEY3H97P4frWRtV4UHY=
        -----END CERTIFICATE-----

        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYeYSCevlgWXXtrBE
        v0C/iY4E8l4ybvqDrU2O1Umpr16hRANCAAQ48vB6Oj9heIwU9g2+5Ztn3qfIHaF4
        /1cEYTM5kTPxdrDDyQH+hluEZsPO0m16TCi7Fse1aRm6Jd3eReJ2dK6a
        -----END PRIVATE KEY-----

        """
}
