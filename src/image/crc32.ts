import zlib from "node:zlib";

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function byTable(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = (TABLE[(c ^ byte) & 255] ?? 0) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/** CRC-32 of PNG chunks (PNG 1.2, 3.4): Node's own where it has one (20.15), else by table. */
export const crc32: (bytes: Uint8Array) => number =
  "crc32" in zlib && typeof zlib.crc32 === "function" ? zlib.crc32 : byTable;
