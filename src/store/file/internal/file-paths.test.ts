import { expect, test } from "vitest";
import { blockBytesOf } from "./file-paths.ts";

test.each([
  [512, 512],
  [1024, 1024],
  [4096, 4096],
  [65_536, 65_536],
  // ZFS reports the size of its records, NFS the size of its transfers.
  [131_072, 4096],
  [1_048_576, 4096],
  [0, 4096],
])("a file system that reports blocks of %i bytes has blocks of %i", (reported, bytes) => {
  expect(blockBytesOf(reported)).toBe(bytes);
});
