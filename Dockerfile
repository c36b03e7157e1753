# The image of a release: Node, the release and the binaries of PostgreSQL, without sources and build tools.
# docker build -t postroad . && docker run -p 4680:4680 -v postroad:/data postroad

FROM node:24.21.0-trixie-slim AS release
WORKDIR /src
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.base.json LICENSE README.md CHANGELOG.md ./
COPY packages packages
COPY scripts scripts
COPY docs docs
RUN npm ci --ignore-scripts && npm run release -- /release

FROM node:24.21.0-trixie-slim AS installed
COPY --from=release /release /release
# The install script of the binaries only links their libraries. The server could not, because it does not own them.
RUN npm install --global --ignore-scripts --prefix /opt/postroad /release/*.tgz \
  && find /opt/postroad -name hydrate-symlinks.js -execdir sh -c 'cd .. && node scripts/hydrate-symlinks.js' \;

FROM node:24.21.0-trixie-slim
COPY --from=installed /opt/postroad /opt/postroad
RUN install -d -o node -g node -m 0700 /data
ENV PATH=/opt/postroad/bin:$PATH \
  NODE_ENV=production \
  HOST=0.0.0.0 \
  DATA_DIR=/data \
  LOG_FORMAT=json
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 4680
# The server stops cleanly: it finishes open requests and the attempts under way. Give it 30 seconds (docker stop -t 30).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4680}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["postroad"]
CMD ["start"]
