# robots-filter as an image without a shell, run by a user without rights:
#
#     docker build -t robots-filter .
#     docker run --rm -i -v "$PWD:/data:ro" robots-filter --robots-dir robots -a GPTBot urls.txt
#
# Everything that is installed is named in package-lock.json, with its digest.

FROM node:24-bookworm-slim AS build
WORKDIR /robots-filter
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM gcr.io/distroless/nodejs24-debian12:nonroot
COPY --from=build /robots-filter/package.json /robots-filter/LICENSE /robots-filter/
COPY --from=build /robots-filter/node_modules /robots-filter/node_modules
COPY --from=build /robots-filter/dist /robots-filter/dist
WORKDIR /data
ENTRYPOINT ["/nodejs/bin/node", "/robots-filter/dist/cjs/main.cjs"]
CMD ["--help"]
