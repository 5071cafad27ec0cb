import { expect, test } from "vitest";
import { DEFAULT_QUOTA } from "../../../quota/configuration/quota-configuration.ts";
import { attentionOf } from "./attention.ts";

const GIB = 2 ** 30;

/** Returns the kinds of problems for a disk and a quota of 100 GiB each. */
function kindsOf(left: { readonly bytes?: number; readonly inodes?: number | null; readonly quota?: number | null }) {
  const { bytes = 50, inodes = 50, quota = 50 } = left;
  return attentionOf({
    notReady: null,
    nodes: [],
    quota: DEFAULT_QUOTA,
    overruled: null,
    upstreams: [],
    traffic: new Map(),
    active: [],
    ended: [],
    failedSinceMs: 0,
    schedules: [],
    usage: {
      disk: { freeBytes: bytes * GIB, totalBytes: 100 * GIB, freeInodes: inodes, totalInodes: inodes && 100 },
      quota: quota === null ? null : 100n * BigInt(GIB),
      quotaCount: "allocated",
      total: { tiles: 1n, bytes: 1n },
      bytesOnDisk: BigInt(Math.round((100 - (quota ?? 0)) * GIB)),
    },
  }).map(({ kind, message }) => [kind, message]);
}

test("a disk or a quota needs attention when a twentieth is left", () => {
  expect(kindsOf({})).toEqual([]);
  expect(kindsOf({ bytes: 6, inodes: 6, quota: 6 })).toEqual([]);
  expect(kindsOf({ bytes: 5 })).toEqual([
    ["disk_nearly_full", "5.0 % of the bytes on the disk of the tiles are left."],
  ]);
  expect(kindsOf({ inodes: 1 })).toEqual([
    ["disk_nearly_full", "1.0 % of the inodes on the disk of the tiles are left."],
  ]);
  expect(kindsOf({ quota: 2 })).toEqual([
    ["quota_nearly_full", "2.0 % of the disk quota is left; the least used tiles are evicted."],
  ]);
  for (const quota of [0.99, 0.001, 0, -1])
    expect(kindsOf({ quota })).toEqual([
      ["quota_nearly_full", "Less than 1 % of the disk quota is left; the least used tiles are evicted."],
    ]);
  expect(kindsOf({ inodes: null, quota: null })).toEqual([]);
});
