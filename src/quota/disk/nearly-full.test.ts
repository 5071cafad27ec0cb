import { expect, test } from "vitest";
import { DiskFullLog } from "./nearly-full.ts";

test("the log has a line when the disk becomes nearly full in bytes or inodes, and when it has space again", () => {
  const lines: string[] = [];
  const write = (sentence: string) => void lines.push(sentence);
  const log = new DiskFullLog({ info: write, warn: write, error: write });
  const space = (freeBytes: number, freeInodes: number) => ({
    freeBytes,
    totalBytes: 100,
    freeInodes,
    totalInodes: Number.isFinite(freeInodes) ? 100 : Number.POSITIVE_INFINITY,
  });
  log.look(space(6, 50));
  log.look(undefined);
  expect(lines).toEqual([]);
  log.look(space(5, 50));
  log.look(space(4, 50));
  log.look(space(6, 50));
  log.look(space(60, 5));
  log.look(space(60, Number.POSITIVE_INFINITY));
  expect(lines).toEqual([
    "the disk of the tiles is nearly full",
    "the disk of the tiles has space again",
    "the disk of the tiles is nearly full",
    "the disk of the tiles has space again",
  ]);
});
