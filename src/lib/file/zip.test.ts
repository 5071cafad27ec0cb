import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readZip, writeZip } from "./zip.ts";

const MOST = 2 ** 20;

test("files come back from an archive", () => {
  const entry = fc.record({
    name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
    bytes: fc.uint8Array(),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
      const read = readZip(writeZip(entries), MOST);
      expect(read?.map(({ name, bytes }) => [name, [...bytes]])).toEqual(
        entries.map(({ name, bytes }) => [Buffer.from(name).toString(), [...bytes]]),
      );
    }),
  );
});

test("Python reads a written archive, and its compressed one is read", () => {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-zip-"));
  try {
    writeFileSync(join(directory, "a.zip"), writeZip([{ name: "doc.kml", bytes: Buffer.from("<kml/>") }]));
    const script = `import zipfile
z = zipfile.ZipFile("a.zip")
assert z.testzip() is None and z.read("doc.kml") == b"<kml/>"
w = zipfile.ZipFile("b.zip", "w", zipfile.ZIP_DEFLATED)
w.writestr("x_EPSG:4326_3.png", b"abc" * 1000)
w.close()`;
    execFileSync("python3", ["-c", script], { cwd: directory });
    const [entry] = readZip(readFileSync(join(directory, "b.zip")), MOST) ?? [];
    expect(entry?.name).toBe("x_EPSG:4326_3.png");
    expect(entry?.bytes.byteLength).toBe(3000);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("bytes that are no archive have no files; a file that claims too much is refused", () => {
  expect(readZip(Buffer.from("no archive"), MOST)).toBeUndefined();
  expect(readZip(new Uint8Array(0), MOST)).toBeUndefined();
  expect(() => readZip(writeZip([{ name: "a", bytes: new Uint8Array(10) }]), 5)).toThrow('"a" is too large');
});

test("a damaged archive is refused, whatever byte is wrong", () => {
  const whole = writeZip([{ name: "a", bytes: Buffer.from("hello") }]);
  fc.assert(
    fc.property(fc.nat(whole.byteLength - 1), fc.nat(255), (at, value) => {
      const bytes = new Uint8Array(whole);
      bytes[at] = value;
      try {
        for (const { bytes: file } of readZip(bytes, MOST) ?? []) expect(Buffer.from(file).toString()).toBe("hello");
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(TypeError);
      }
    }),
    { numRuns: 300 },
  );
});
