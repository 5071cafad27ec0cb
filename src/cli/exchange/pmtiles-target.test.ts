import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tileIdToZxy } from "pmtiles";
import { expect, onTestFinished, test } from "vitest";
import { PNG } from "../../layer/format.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { openPmtiles } from "../../source/archive/pmtiles.ts";
import { NOTHING_DONE, progressAfter } from "./export-target.ts";
import { pmtilesTarget } from "./pmtiles-target.ts";

const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), "nuthatch-pmtiles-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
};
const FACTS = {
  name: "a",
  description: "",
  bounds: [-180, -85, 180, 85] as const,
  minZoom: 0,
  maxZoom: 7,
  vectorLayers: undefined,
};
const never = new AbortController().signal;

/** Most tiles have unique content. Many tiles share the content "sea". */
const bytesOf = (id: number): Buffer => Buffer.from(id % 5 === 0 || id > 20_000 ? "sea" : `tile ${id}`);
const tileAt = (id: number) => {
  const [z, x, fromTop] = tileIdToZxy(id);
  return { z, x, fromTop, bytes: bytesOf(id) };
};

test("an archive with leaf directories has every tile, equal tiles once, and what it tells about itself", async () => {
  const to = join(directory(), "a.pmtiles");
  const target = pmtilesTarget({ to, format: PNG, purpose: "a", isContinued: false }, machineClock);
  const ids = Array.from({ length: 21_000 }, (_, n) => n).filter((id) => id % 7 !== 0);
  // Adds the tiles in another order than that of the archive.
  for (const part of [ids.slice(9_000).reverse(), ids.slice(0, 9_000)]) {
    const tiles = part.map(tileAt);
    target.add(tiles, progressAfter(NOTHING_DONE, tiles, { next: null, missing: 0, complete: true }));
  }
  await target.finish(FACTS, never);
  target.close("remove");
  expect(readdirSync(join(to, ".."))).toEqual(["a.pmtiles"]);

  const archive = await openPmtiles(to);
  onTestFinished(() => archive[Symbol.asyncDispose]());
  expect(await archive.facts()).toMatchObject({ format: { mimeType: "image/png" }, minZoom: 0, maxZoom: 7 });
  const read = async (id: number): Promise<string | undefined> => {
    const { z, x, fromTop } = tileAt(id);
    const bytes = await archive.tile({ z, x, fromTop, fromBottom: 2 ** z - 1 - fromTop });
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  };
  const wrong: number[] = [];
  for (let id = 0; id < 21_100; id += 13) {
    const expected = id % 7 === 0 || id >= 21_000 ? undefined : bytesOf(id).toString();
    if ((await read(id)) !== expected) wrong.push(id);
  }
  expect(wrong).toEqual([]);
});

test("an archive whose writing is cancelled leaves no file", async () => {
  const to = join(directory(), "a.pmtiles");
  const target = pmtilesTarget({ to, format: PNG, purpose: "a", isContinued: false }, machineClock);
  target.add([tileAt(0)], NOTHING_DONE);
  await expect(target.finish(FACTS, AbortSignal.abort(new Error("cancelled")))).rejects.toThrow("cancelled");
  target.close("remove");
  expect(readdirSync(join(to, ".."))).toEqual([]);
});

test("a kept export continues where it was, and no other export continues it", () => {
  const to = join(directory(), "a.pmtiles");
  const first = pmtilesTarget({ to, format: PNG, purpose: "a", isContinued: true }, machineClock);
  first.add([tileAt(1)], { ...NOTHING_DONE, after: "1/0/0", tiles: 1 });
  first.close("keep");
  const again = pmtilesTarget({ to, format: PNG, purpose: "a", isContinued: true }, machineClock);
  expect(again.begun).toMatchObject({ after: "1/0/0", tiles: 1 });
  again.close("keep");
  expect(() => pmtilesTarget({ to, format: PNG, purpose: "b", isContinued: true }, machineClock)).toThrow(
    `${to}.part belongs to another export`,
  );
});
