/// The files of listeners with TLS. OpenSSL loads them, but no simulated handshake uses them.
enum ListenerFiles {
    /// The content of a file; nil for another one.
    static func content(_ path: String) -> String? {
        all.first { path.hasSuffix($0.name) }?.text
    }

    private static let all = [
        (name: "shop.pem", text: shop), (name: "shop.key", text: shopKey),
        (name: "partners.pem", text: partners), (name: "partners.key", text: partnersKey),
    ]

    /// For `shop.test` and `*.shop.test`.
    private static let shop = """
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

    private static let shopKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYeYSCevlgWXXtrBE
        v0C/iY4E8l4ybvqDrU2O1Umpr16hRANCAAQ48vB6Oj9heIwU9g2+5Ztn3qfIHaF4
        /1cEYTM5kTPxdrDDyQH+hluEZsPO0m16TCi7Fse1aRm6Jd3eReJ2dK6a
        -----END PRIVATE KEY-----

        """

    /// For `partners.test` and `*.partners.test`.
    private static let partners = """
        -----BEGIN CERTIFICATE-----
        MIIByjCCAW+gAwIBAgIUKS8HwLgkLz7pl1mviME/7jcRPmIwCgYIKoZIzj0EAwIw
        GDEWMBQGA1UEAwwNcGFydG5lcnMudGVzdDAgFw0yNjExMjMwMDMyMTFaGA8yMTI2
        MTAzMDAwMzIxMVowGDEWMBQGA1UEAwwNcGFydG5lcnMudGVzdDBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABDi3TE1UfpoKwtFHJvsW8vBP8kQmqz1UT3s5D1ebw3+d
        LZ6HJXimIIVd0YaCHlSY4UaDq2dXqOjONyiSblyRZwGjgZQwgZEwHQYDVR0OBBYE
        FJcEIyewzHfUCyJcPCUxhArYhu2YMB8GA1UdIwQYMBaAFJcEIyewzHfUCyJcPCUx
        hArYhu2YMA8GA1UdEwEB/wQFMAMBAf8wKQYDVR0RBCIwIIINcGFydG5lcnMudGVz
        dIIPKi5wYXJ0bmVycy50ZXN0MBMGA1UdJQQMMAoGCCsGAQUFBwMBMAoGCCqGSM49
        BAMCA0kAMEYCIQDNL15d5TOVnpHIJCfpVtwCarVgyHSkM74z1+gIHpzFAwIhAK98
        IN3WyI3OLh4cZHceOEUxPe3RnWy1bcf6WRkXWFA6
        -----END CERTIFICATE-----

        """

    private static let partnersKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgE8UjbM+7mAj7qjKC
        UqJjZR9qLp1Q9a7zQWfTUxpnXRahRANCAAQ4t0xNVH6aCsLRRyb7FvLwT/JEJqs9
        VE97OQ9Xm8N/nS2ehyV4piCFXdGGgh5UmOFGg6tnV6jozjcokm5ckWcB
        -----END PRIVATE KEY-----

        """
}
