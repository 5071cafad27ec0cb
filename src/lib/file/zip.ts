import { crc32, inflateRawSync } from "node:zlib";

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Signatures, and the lengths of the records before their names (PKWARE's APPNOTE.TXT 4.3). */
const LOCAL = { signature: 0x04034b50, bytes: 30 } as const;
const CENTRAL = { signature: 0x02014b50, bytes: 46 } as const;
const END = { signature: 0x06054b50, bytes: 22 } as const;
const STORED = 0;
const DEFLATED = 8;
/** Bit 0 of the flags: the entry is encrypted. */
const ENCRYPTED = 1;
/** The names are UTF-8. */
const UTF8 = 0x0800;
/** Version 2.0 of the format. */
const VERSION = 20;
/** 1980-01-01, the first date that an archive can contain. With a fixed date the bytes do not depend on the clock. */
const FIRST_DAY = (1 << 5) | 1;

/**
 * Returns the files of an archive. Undefined if the bytes are not an archive.
 * @param most the most bytes of all files together
 * @throws Error with the reason, if a file cannot be read
 */
export function readZip(bytes: Uint8Array, most: number): readonly ZipEntry[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end === undefined) return undefined;
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  let left = most;
  const entries: ZipEntry[] = [];
  for (let i = 0; i < count; i++) {
    if (at + CENTRAL.bytes > bytes.byteLength || view.getUint32(at, true) !== CENTRAL.signature)
      throw new Error("the list of files is damaged");
    const nameBytes = view.getUint16(at + 28, true);
    const name = Buffer.from(bytes.subarray(at + CENTRAL.bytes, at + CENTRAL.bytes + nameBytes)).toString("utf8");
    const file = readEntry(bytes, view, at, name, left);
    left -= file.byteLength;
    entries.push({ name, bytes: file });
    at += CENTRAL.bytes + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

/** Returns the index of the last record. It stands at the end, in front of a comment of at most 65,535 bytes. */
function findEnd(view: DataView): number | undefined {
  const first = Math.max(0, view.byteLength - END.bytes - 0xffff);
  for (let at = view.byteLength - END.bytes; at >= first; at--)
    if (view.getUint32(at, true) === END.signature) return at;
  return undefined;
}

function readEntry(bytes: Uint8Array, view: DataView, at: number, name: string, most: number): Uint8Array {
  const method = view.getUint16(at + 10, true);
  const packed = view.getUint32(at + 20, true);
  const size = view.getUint32(at + 24, true);
  const local = view.getUint32(at + 42, true);
  const what = JSON.stringify(name.slice(0, 100));
  if ((view.getUint16(at + 8, true) & ENCRYPTED) !== 0) throw new Error(`${what} is encrypted`);
  if (size > most) throw new Error(`${what} is too large`);
  if (local + LOCAL.bytes > bytes.byteLength || view.getUint32(local, true) !== LOCAL.signature)
    throw new Error(`${what} is damaged`);
  const from = local + LOCAL.bytes + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  const content = bytes.subarray(from, from + packed);
  const file = unpacked(content, method, size, what);
  if (file.byteLength !== size || crc32(file) !== view.getUint32(at + 16, true)) throw new Error(`${what} is damaged`);
  return file;
}

function unpacked(content: Uint8Array, method: number, size: number, what: string): Uint8Array {
  if (method === STORED) return content;
  if (method !== DEFLATED) throw new Error(`${what} is packed by an unknown method`);
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, size) });
  } catch (error) {
    throw new Error(`${what} is damaged`, { cause: error });
  }
}

/** Returns an archive of files. The files are not compressed, because pictures already are. */
export function writeZip(entries: readonly ZipEntry[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const list: Uint8Array[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const raw = Buffer.from(name, "utf8");
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(VERSION, 0);
    fields.writeUInt16LE(UTF8, 2);
    fields.writeUInt16LE(STORED, 4);
    fields.writeUInt16LE(FIRST_DAY, 8);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(bytes.byteLength, 14);
    fields.writeUInt32LE(bytes.byteLength, 18);
    fields.writeUInt16LE(raw.byteLength, 22);
    parts.push(signature(LOCAL.signature), fields, raw, bytes);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    const made = Buffer.alloc(2);
    made.writeUInt16LE(VERSION, 0);
    list.push(signature(CENTRAL.signature), made, fields, tail, raw);
    offset += LOCAL.bytes + raw.byteLength + bytes.byteLength;
  }
  const listBytes = list.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listBytes, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...list, signature(END.signature), end]);
}

function signature(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value, 0);
  return bytes;
}
