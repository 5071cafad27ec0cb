import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isFull } from "../support/full.ts";
import { testSeed } from "../support/test-seed.ts";
import { inputsOf } from "./corpus.ts";
import { fileDecoders } from "./file-decoders.ts";
import { fuzz } from "./fuzz.ts";
import { textDecoders } from "./text-decoders.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-fuzz-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A decoding that needs a file or another process takes ms, another one some µs. */
const SLOW = new Map([
  ["mbtiles", 20],
  ["pmtiles", 200],
  ["png", 200],
  ["bundle", 200],
  ["bundle-v1", 200],
  ["tiling-scheme", 100],
]);

for (const decoder of [...textDecoders, ...fileDecoders(directory)])
  test(`bytes from elsewhere are a value or a refusal in good time: ${decoder.name} (the long form is npm run fuzz)`, async () => {
    const inputs = (SLOW.get(decoder.name) ?? 1_000) * (isFull ? 100 : 1);
    const result = await fuzz(decoder, inputsOf(decoder), testSeed(), { inputs, ms: Number.POSITIVE_INFINITY });
    const reasons = result.finds.map(({ input, reason }) => `${reason}\n${Buffer.from(input).toString("base64")}`);
    expect(reasons).toEqual([]);
    expect(result.outcomes, "inputs are accepted and refused").toBeGreaterThan(1);
  });
