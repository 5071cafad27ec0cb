import { readdirSync, readFileSync } from "node:fs";
import { describe } from "vitest";
import { skippedOnNodes } from "../../support/cluster/balanced.ts";
import { S3_OF_ALL } from "../../support/s3/env.ts";
import { contractServer } from "../contract-server.ts";

/*
 * GeoWebCache's configuration interface, exchange by exchange (`docs/reference/configuration-interface.md`). Each block of
 * a file in `transcripts/` begins with `## ` and a sentence, and is a transcript. Different answers of GeoWebCache are in parentheses.
 */

const { transcript } = contractServer({
  configuration: () => `
server: { mounts: ["/", "/geowebcache"] }
gridSets:
  - { id: swiss, srs: EPSG:2056, extent: [2420000, 1030000, 2900000, 1350000], scaleDenominators: [25000000, 1000000.5] }
layers:
  - name: states
    title: States & more
    source: { type: wms, url: "http://127.0.0.1:9/wms", layers: [a, b], username: u, password: verysecret }
    gridSubsets: [{ gridSet: EPSG:4326, extent: [0, 0, 10, 10], zoomStart: 1, zoomStop: 3 }, { gridSet: swiss }]
    parameterFilters:
      - { type: string, key: STYLES, default: "", values: [day, night], normalize: LOWER }
      - { type: regex, key: CQL_FILTER, default: INCLUDE, regex: ".*" }
      - { type: float, key: ELEVATION, default: "0.0", values: [0, 1.5], threshold: 0.1 }
      - { type: integer, key: YEAR, default: "2000", values: [2000, 2010], threshold: 5 }
    requestFilters:
      - { type: circle, name: circ }
      - { type: wms, name: wrf, zoomStop: 1, layers: [mask], timeoutSeconds: 30 }
      - { type: file, name: filemask, zoomStop: 3, directory: /srv/masks, extension: tiff }
    updateSources:
      - { type: georss, url: "http://127.0.0.1:9/feed?since={lastUpdate}", gridSet: EPSG:4326, pollSeconds: 86400, username: u, password: verysecret }
    cacheBypassAllowed: true
    expireCacheSeconds: [{ minZoom: 0, seconds: 0 }, { minZoom: 2, seconds: 60 }]
    expireClientSeconds: 604800
    queryable: true
    legends: [{ style: day, width: 30 }, { style: night }]
`,
});

/** Transcripts in which no store is configured. */
const WITHOUT_STORES: ReadonlySet<string> = new Set([
  "an unknown store (GeoWebCache: 200, and the next start fails)",
  "a client that accepts neither XML nor JSON is 406, unless the address or the query names a form",
  "the implicit default store is not listed: XML is the standard form",
  "the list in JSON",
  "a disabled store is 201 without a body, then 200, and is shown with its defaults",
]);
const onNodes = skippedOnNodes("lists and messages have the store main of the nodes");

const directory = new URL("transcripts/", import.meta.url);
for (const file of readdirSync(directory).sort()) {
  // With a store in S3 for all servers of a run, lists and messages name it.
  describe.skipIf(S3_OF_ALL !== undefined && file === "stores.txt")(file, () => {
    for (const block of readFileSync(new URL(file, directory), "utf8").split(/^## /m).slice(1)) {
      const end = block.indexOf("\n");
      const sentence = block.slice(0, end);
      transcript(sentence, block.slice(end), onNodes && WITHOUT_STORES.has(sentence));
    }
  });
}
