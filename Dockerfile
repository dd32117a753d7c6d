# Builds and serves the dataset; docs/operations.md says how to run it. Node is the version that package.json has for Linux.
# No registry could be reached from here: the digest is the one that several public projects pin this tag to.
ARG NODE_IMAGE=node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
# The image has Node itself, which would be there a second time.
RUN rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY LICENSE LICENSE-DATA package.json package-lock.json ./
COPY data data
COPY pipeline pipeline
COPY server server
RUN install --directory --owner=node --group=node --mode=0700 /data \
 && install --directory --owner=node --group=node --mode=0755 /public
# Sources that have to be there: the sample is never published by mistake. No key is printed where others could reach it.
ENV DATA_DIR=/data PUBLIC_DIR=/public SOURCES=/data/sources.json HOST=0.0.0.0 PORT=8080 BOOTSTRAP_KEY=0 NODE_ENV=production
VOLUME ["/data", "/public"]
# The user `node` of the image, by number, so that it is known not to be root.
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "pipeline/cli.ts"]
CMD ["serve"]
