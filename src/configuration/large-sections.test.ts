import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cpuMs, cpuMsUntil } from "../../test/support/cpu-time.ts";
import { Problems } from "./internal/read/problems.ts";
import { checkText, loadConfiguration } from "./load.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-large-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const many = <T>(count: number, item: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => item(i));
const source = { type: "wms", url: "http://u/" };
const layer = (fields: object) => ({ layers: [{ name: "a", source, ...fields }] });
const filter = (i: number, fields: object = {}) => ({ type: "string", key: `K${i}`, values: ["v"], ...fields });

/** Large sections, by the part that they repeat. */
const SECTIONS: Readonly<Record<string, (count: number) => object>> = {
  filters: (count) => layer({ parameterFilters: many(count, (i) => filter(i)) }),
  "filters of one key": (count) => layer({ parameterFilters: many(count, () => filter(1)) }),
  "empty keys": (count) => layer({ parameterFilters: many(count, (i) => filter(i, { normalize: null })) }),
  "unknown grid sets with variables": (count) =>
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
    layer({ title: "${A}", gridSubsets: many(count, (i) => ({ gridSet: "${G}", zoomStart: i + 100 })) }),
  "unknown grid sets": (count) => layer({ gridSubsets: many(count, (i) => ({ gridSet: `EPSG:${i + 1_000_000}` })) }),
  formats: (count) => layer({ formats: many(count, (i) => `image/f${i}`) }),
  "maps with unknown keys": (count) =>
    layer({
      gridSubsets: many(count, () => ({ gridSet: "a", ...Object.fromEntries(many(20, (k) => [`grdSet${k}`, 1])) })),
    }),
  feeds: (count) =>
    layer({ updateSources: many(count, (i) => ({ type: "georss", url: `http://u/${i}`, pollSeconds: 9 })) }),
};

test.for(Object.keys(SECTIONS))("the check of a text takes time in proportion to its %s", async (what) => {
  const cpu = (count: number): Promise<number> => {
    const text = Buffer.from(JSON.stringify(SECTIONS[what]?.(count)));
    return cpuMsUntil(async () => void (await checkText(text, "n.yaml")));
  };
  await cpu(250);
  const small = await cpu(500);
  // The section is eight times as large: a nested loop would take 64 times as long.
  expect(await cpu(4_000)).toBeLessThan(Math.max(small, 20) * 24);
});

test("any number of empty keys counts as absent", async () => {
  const content = layer({ parameterFilters: many(1_000, (i) => filter(i, { normalize: null })) });
  writeFileSync(join(directory, "n.yaml"), JSON.stringify(content));
  const read = await loadConfiguration({ env: {}, flags: { config: "n.yaml" }, cwd: directory });
  expect(read).toMatchObject({ ok: true });
});

test("problems and skipped values take time in proportion to their number", () => {
  const origins = {
    originOf: () => ({ file: "n.yaml" }),
    directoryOf: () => "/",
    pathIn: (path: readonly (string | number)[]) => path,
    writtenAs: () => undefined,
  };
  const cpu = (count: number): number =>
    cpuMs(() => {
      const problems = new Problems(origins);
      for (let i = 0; i < count; i++) {
        problems.skip(["layers", i, "title"]);
        problems.add(["layers", i, "gutter"], "is wrong");
        expect(problems.within(["layers", i, "name"])).toBe(false);
      }
      problems.add(["layers", 0, "title"], "is not known here");
      expect(problems.list).toHaveLength(101);
      expect(problems.list.some(({ path }) => path.endsWith("title"))).toBe(false);
    });
  cpu(250);
  const small = cpu(1_000);
  expect(cpu(8_000)).toBeLessThan(Math.max(small, 20) * 24);
});
