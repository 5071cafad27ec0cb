import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfiguration } from "./load.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-foreign-"));
/** Files of other programs. A parser that quotes them in a message would reveal a secret. */
const CONTENTS: Readonly<Record<string, string>> = {
  text: "CANARY:x:0:0",
  json: '{"CANARY": CANARY}',
  list: '["CANARY"]',
  xml: "<CANARY><a>CANARY</CANARY>",
  root: "<CANARY/>",
  entity: "<a>&CANARY;</a>",
};
/** Layers and grid sets that name a file. */
const NAMING: Readonly<Record<string, (file: string) => string>> = {
  tileMatrixSet: (file) => `gridSets: [{ id: g, tileMatrixSet: ${file} }]`,
  ca: (file) => `layers: [{ name: a, source: { type: wms, url: "https://h", layers: [a], ca: ${file} } }]`,
  cert: (file) =>
    `layers: [{ name: a, source: { type: wms, url: "https://h", layers: [a], cert: ${file}, key: ${file} } }]`,
  arcgisCache: (file) => `layers: [{ name: a, source: { type: arcgisCache, path: ${file} } }]`,
  mbtiles: (file) => `layers: [{ name: a, source: { type: mbtiles, file: ${file} } }]`,
  pmtiles: (file) => `layers: [{ name: a, source: { type: pmtiles, file: ${file} } }]`,
  htpasswd: (file) => `htpasswd: { file: ${file} }`,
};

test.each(Object.keys(NAMING).flatMap((key) => Object.keys(CONTENTS).map((kind) => [key, kind] as const)))(
  "no message about the file of %s has characters of the file: %s",
  async (key, kind) => {
    const file = join(directory, `${key}-${kind}`);
    writeFileSync(file, CONTENTS[kind] ?? "");
    const yaml = join(directory, `${key}-${kind}.yaml`);
    writeFileSync(yaml, NAMING[key]?.(file) ?? "");
    const report = await loadConfiguration({ cwd: directory, env: {}, flags: { config: yaml } });
    // A htpasswd file with unknown hashes is valid: its users cannot log in.
    if (report.ok) expect(key).toBe("htpasswd");
    expect(JSON.stringify(report.ok ? report.value.warnings : report.error)).not.toContain("CANARY");
  },
);
