import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { appendMeasurement, readMeasurements } from "./measurement-file.ts";
import { HEADER, lineOf, type Measurement, parseLine, qualityByMonth } from "./measurements.ts";
import { createProber, probeAtRate } from "./probe.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-quality-"));
afterAll(() => rmSync(directory, { recursive: true }));

const at = (text: string, status: number | undefined, firstByteMs: number): Measurement => ({
  atMs: Date.parse(text),
  status,
  firstByteMs,
});

test("a line is read as it was written, and a line that was cut off is left out", () => {
  fc.assert(
    fc.property(
      fc.record({
        atMs: fc.integer({ min: 0, max: 4e12 }),
        status: fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }),
        firstByteMs: fc.integer({ min: 0, max: 30_000 }),
      }),
      (one) => {
        const line = lineOf(one);
        expect(parseLine(line)).toEqual(one);
        expect(parseLine(line.slice(0, 23))).toBeUndefined();
      },
    ),
  );
  expect(parseLine(HEADER)).toBeUndefined();
});

test("a month has the share of the probes with the status 200, and the time of 95 of 100 of them", () => {
  const november = Array.from({ length: 100 }, (_, i) => at("2026-11-30T23:59:59.999Z", 200, (i + 1) * 60));
  const december = [
    at("2026-12-01T00:00:00Z", 200, 40),
    at("2026-12-01T00:10:00Z", 503, 1),
    at("2026-12-01T00:20:00Z", undefined, 30_000),
  ];
  const down = [at("2027-01-01T00:00:00Z", 404, 3)];
  expect(qualityByMonth([...down, ...december, ...november])).toEqual([
    { month: "2026-11", probes: 100, failed: 0, availabilityPercent: 100, firstByteMs95: 5_700, inTimePercent: 83 },
    { month: "2026-12", probes: 3, failed: 2, availabilityPercent: 33.333, firstByteMs95: 40, inTimePercent: 100 },
    { month: "2027-01", probes: 1, failed: 1, availabilityPercent: 0, firstByteMs95: null, inTimePercent: null },
  ]);
});

test("one failure in many probes is not 100 percent", () => {
  const all = Array.from({ length: 20_000 }, (_, i) => at("2026-11-01T00:00:00Z", i === 0 ? 500 : 200, 10));
  expect(qualityByMonth(all)[0]?.availabilityPercent).toBe(99.995);
});

test("the file keeps two years, and its end may be cut off", () => {
  const file = join(directory, "kept.csv");
  const lines = [
    at("2024-01-01T00:00:00Z", 200, 1),
    at("2024-12-31T00:00:00Z", 200, 2),
    at("2026-12-31T00:00:00Z", 200, 3),
  ];
  for (const one of lines.slice(0, 2)) appendMeasurement(file, one);
  expect(readFileSync(file, "utf8")).toBe(`${HEADER}\n${lines.slice(0, 2).map(lineOf).join("\n")}\n`);
  writeFileSync(file, "2025-01", { flag: "a" });
  for (const one of lines.slice(2)) appendMeasurement(file, one);
  expect(readMeasurements(file)).toEqual(lines.slice(1));
});

/** Starts a server that answers `/ok` at once, and `/slow` with a head and a first byte but no end. */
async function startServer(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === "/ok") response.end("tile");
    else if (request.url === "/slow") response.writeHead(200, { "content-length": "100" }).write("t");
    else response.writeHead(500).end("no");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
const { signal } = new AbortController();

test("a probe ends with the first byte, and has the status or none", async () => {
  const origin = await startServer();
  await using prober = createProber(machineClock, 1);
  const probe = (address: string) => prober.probe(new URL(address), signal);
  expect(await probe(`${origin}/ok`)).toMatchObject({ status: 200 });
  expect(await probe(`${origin}/broken`)).toMatchObject({ status: 500 });
  const slow = await probe(`${origin}/slow`);
  expect(slow.status).toBe(200);
  expect(slow.firstByteMs).toBeLessThan(20_000);
  expect((await probe("http://127.0.0.1:1/")).status).toBeUndefined();
});

test("requests at a rate are sent in turn and all counted", async () => {
  const origin = await startServer();
  await using prober = createProber(machineClock, 12);
  const urls = ["/ok", "/broken"].map((path) => new URL(path, origin));
  const all = await probeAtRate({ prober, clock: machineClock }, urls, { count: 12, perSecond: 200 }, signal);
  expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => [200, 500]).flat());
});
