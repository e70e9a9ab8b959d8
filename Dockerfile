# Build: everything static, so that the image needs no library.
FROM swift:6.3-bookworm AS build
WORKDIR /src
COPY script/lib script/lib
COPY script/deps script/static script/
RUN script/deps static
COPY Package.swift ./
COPY Plugins Plugins
COPY Sources Sources
COPY Tests Tests
# What `tributary version` prints as its commit.
ARG REVISION=unknown
RUN TRIBUTARY_COMMIT="${REVISION}" script/static && mv .build/static/tributary .build/static/tributary.debug /

# For deploy/symbols, to keep beside the image: docker build --target symbols --output . .
FROM scratch AS symbols
COPY --from=build /tributary.debug /

# Run: the binary, its configuration, no shell, no root.
FROM scratch
ARG VERSION=0.3.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="tributary" \
      org.opencontainers.image.description="One HTTP request in, many out, one response back" \
      org.opencontainers.image.source="NOASSERTION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /tributary /tributary
# The CAs trusted for https:// backends; mount another file here, or name one with SSL_CERT_FILE.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY config/tributary.yaml /etc/tributary/tributary.yaml
# Each worker keeps up to 512 freed blocks of each size for its next requests, and not 7: they need neither locks nor searches.
ENV GLIBC_TUNABLES=glibc.malloc.tcache_count=512
USER 65532:65532
EXPOSE 8080 9901
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/tributary", "health"]
ENTRYPOINT ["/tributary"]
CMD ["serve", "/etc/tributary/tributary.yaml"]
