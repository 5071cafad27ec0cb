import { describe, expect, it } from "vitest";
import { jobView as job } from "../../../test/support/jobs/job-view.ts";
import { geodetic, startProtocols, states } from "../../../test/support/tile-protocols.ts";
import type { TileState } from "../../cache/tile-state.ts";
import { DEFAULT_PARAMETERS } from "../../layer/filter/parameter-filter.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import { explainTile } from "./explanation.ts";

const NOW = Date.UTC(2026, 0, 1);
const subset = states.gridSubsets.find((s) => s.gridSet === geodetic);
const [format] = states.formats;
if (subset === undefined || format === undefined) throw new Error("the fixture has changed");
const request = { layer: states, subset, format, parameters: DEFAULT_PARAMETERS, index: { x: 2, y: 5, z: 3 } };

const state = (more: Partial<TileState>): TileState => ({
  inMemory: false,
  stored: undefined,
  key: "topp_states/EPSG_4326_03/0_1/02_05.png",
  drawing: false,
  metatile: { z: 3, minX: 0, minY: 4, maxX: 3, maxY: 7 },
  truncatedMs: undefined,
  failing: undefined,
  ...more,
});

const explain = (more: Partial<TileState>, jobs: readonly JobView[] = [], evictedMs?: number) =>
  explainTile(
    { inspect: async () => state(more), jobs: async () => jobs, evictedAt: async () => evictedMs, now: () => NOW },
    request,
  );

describe("an explanation of a tile", () => {
  it("that is stored names its address, its file, its age and the job that was at work there", async () => {
    const stored = { bytes: 77, modifiedMs: NOW - 3_000_000, expired: false, isNoTile: false };
    const elsewhere = [
      job(9, { zoomStart: 4 }),
      job(8, { gridSet: "EPSG:900913" }),
      job(7, { format: "image/jpeg" }),
      job(6, { parameters: { STYLES: "pop" } }),
      job(5, { bounds: [0, -90, 180, 0] }),
      job(4, { startedAt: "2025-12-31T23:20:00.000Z" }),
    ];
    expect(await explain({ inMemory: true, stored }, [...elsewhere, job(3, {}), job(2, {})])).toEqual({
      layer: "topp:states",
      gridSet: "EPSG:4326",
      format: "image/png",
      tile: { x: 2, y: 5, z: 3 },
      bounds: [-135, 22.5, -112.5, 45],
      parameters: { id: "", values: {} },
      state: "kept",
      reason: null,
      message: "Kept: 77 bytes, written 3000 seconds ago.",
      inMemory: true,
      store: {
        key: "topp_states/EPSG_4326_03/0_1/02_05.png",
        bytes: 77,
        modifiedAt: "2025-12-31T23:10:00.000Z",
        ageSeconds: 3000,
      },
      expireCacheSeconds: 0,
      drawing: false,
      metatile: [0, 4, 3, 7],
      writtenBy: {
        id: 3,
        type: "seed",
        state: "done",
        startedAt: "2025-12-31T23:00:00.000Z",
        endedAt: "2025-12-31T23:30:00.000Z",
      },
      layerTruncatedAt: null,
      truncatedBy: null,
      evictedAt: null,
    });
  });

  it("that is the upstream's answer that it has none says so", async () => {
    const stored = { bytes: 105, modifiedMs: NOW - 4000, expired: false, isNoTile: true };
    expect(await explain({ stored })).toMatchObject({
      state: "kept",
      reason: "no_tile",
      message: "Kept: the map server's answer that there is no tile here, written 4 seconds ago.",
    });
    expect(await explain({ stored: { ...stored, expired: true } })).toMatchObject({
      state: "expired",
      reason: "expired",
      message:
        "Expired: the map server's answer that there is no tile here, written 4 seconds ago. The next request renders it.",
    });
  });

  it("that was evicted says so, unless it was truncated or stored since", async () => {
    const evictedMs = NOW - 90_000;
    expect(await explain({}, [], evictedMs)).toMatchObject({
      state: "missing",
      reason: "evicted",
      message: "Not stored: the disk quota evicted it 90 seconds ago. The next request renders it.",
      evictedAt: "2025-12-31T23:58:30.000Z",
    });
    const truncation = job(9, { type: "truncate", endedAt: "2025-12-31T23:58:00.000Z" });
    expect(await explain({}, [truncation], evictedMs)).toMatchObject({ reason: "evicted", truncatedBy: { id: 9 } });
    const later = { reason: "truncated", evictedAt: null };
    expect(await explain({ truncatedMs: NOW - 1000 }, [], evictedMs)).toMatchObject(later);
    expect(await explain({}, [{ ...truncation, endedAt: "2025-12-31T23:59:00.000Z" }], evictedMs)).toMatchObject(later);
    const stored = { bytes: 77, modifiedMs: NOW - 60_000, expired: false, isNoTile: false };
    expect(await explain({ stored }, [], evictedMs)).toMatchObject({ state: "kept", evictedAt: null });
  });

  it("that a user's request wrote names no job", async () => {
    const stored = { bytes: 77, modifiedMs: NOW - 60_000, expired: false, isNoTile: false };
    expect((await explain({ stored }, [job(3, {})])).writtenBy).toBeNull();
  });

  it("that expired, is missing, or was truncated says so", async () => {
    const stored = { bytes: 77, modifiedMs: NOW - 60_000, expired: true, isNoTile: false };
    expect(await explain({ stored, drawing: true })).toMatchObject({
      state: "expired",
      reason: "expired",
      message: "Expired: 77 bytes, written 60 seconds ago. It is being rendered.",
    });
    expect(await explain({})).toMatchObject({ state: "missing", reason: "not_stored", store: { bytes: null } });
    expect(await explain({ truncatedMs: NOW - 1000 })).toMatchObject({
      state: "missing",
      reason: "truncated",
      layerTruncatedAt: "2025-12-31T23:59:59.000Z",
      truncatedBy: null,
    });
    const failing = { message: "status 500", untilMs: NOW + 4500 };
    expect(await explain({ failing, truncatedMs: NOW - 1000 })).toMatchObject({
      state: "missing",
      reason: "failing",
      message:
        "Not stored: its last render failed (status 500). The next request to the map server follows in 5 seconds.",
    });
    const all = { type: "truncate", gridSet: null, format: null, parameters: null } as const;
    expect(await explain({}, [job(9, all)])).toMatchObject({ reason: "truncated", truncatedBy: { id: 9 } });
    const chosen = (pattern: string) => ({
      ...all,
      parameterSets: [{ STYLES: { like: pattern }, CQL_FILTER: { like: "*" } }],
    });
    expect((await explain({}, [job(9, chosen("pop*")), job(8, chosen("*"))])).truncatedBy).toMatchObject({ id: 8 });
  });
});

const WMTS =
  "/service/wmts?request=GetTile&layer=topp:states&format=image/png&tilematrixset=EPSG:4326&tilematrix=EPSG:4326:3&tilerow=2&tilecol=2";
const WMS =
  "/service/wms?request=GetMap&layers=topp:states&srs=EPSG:4326&bbox=-135,22.5,-112.5,45&width=256&height=256&format=image/png";
const user = { headers: { authorization: "Basic bWU6bWU=" } };

describe("?explain", () => {
  it("is answered at every protocol with JSON, and nothing is read or rendered", async () => {
    await using protocols = await startProtocols();
    for (const target of [
      "/xyz/topp:states/EPSG:4326/3/2/2.png?explain",
      "/service/tms/1.0.0/topp:states@EPSG:4326@png/3/2/5.png?Explain=1",
      "/service/wmts/rest/topp:states/EPSG:4326/EPSG:4326:3/2/2?format=image/png&explain",
      `${WMTS}&explain`,
      `${WMS}&explain=true`,
    ]) {
      const { status, headers, body } = await protocols.request(target, user);
      expect([status, headers["content-type"], headers["cache-control"]], target).toEqual([
        200,
        "application/json",
        "no-store",
      ]);
      expect(JSON.parse(body), target).toMatchObject({ tile: { x: 2, y: 5, z: 3 }, state: "missing" });
    }
    expect(protocols.reader.requests).toEqual([]);
  });

  it("says which tile the layer does not offer, and why", async () => {
    await using protocols = await startProtocols();
    const look = async (target: string) => JSON.parse((await protocols.request(target, user)).body);
    const outside = { state: "outside", store: null, layer: "topp:states", gridSet: "EPSG:4326" };
    const beyond = { ...outside, reason: "outside_coverage", tile: { x: 0, y: 0, z: 3 } };
    expect(await look("/xyz/topp:states/EPSG:4326/3/0/7.png?explain")).toMatchObject(beyond);
    const wmts = WMTS.replace("tilerow=2&tilecol=2", "tilerow=7&tilecol=0");
    expect(await look(`${wmts}&explain`)).toMatchObject(beyond);
    const levels = { ...outside, reason: "outside_levels", tile: { x: 2, y: 60001, z: 16 } };
    expect(await look("/xyz/topp:states/EPSG:4326/16/2/5534.png?explain")).toMatchObject(levels);
    expect(await look("/xyz/topp:states/EPSG:4326/99/2/2.png?explain")).toMatchObject({
      ...outside,
      tile: { x: 2, y: null, z: 99 },
      bounds: null,
    });
    expect(await look(`${WMTS.replace("EPSG:4326:3", "EPSG:4326:16")}&explain`)).toMatchObject({
      ...outside,
      reason: "outside_levels",
    });
  });

  it("needs an account, also for a public layer, and only tiles have one", async () => {
    await using protocols = await startProtocols();
    expect(await protocols.request("/xyz/topp:states/EPSG:4326/3/2/2.png?explain")).toMatchObject({
      status: 401,
      body: "An explanation needs a user name and a password",
    });
    const request = (target: string) => protocols.request(target, user);
    expect((await request("/service/wmts?request=GetCapabilities&explain")).status).toBe(400);
    expect((await request("/xyz/none/3/2/2.png?explain")).status).toBe(404);
    expect((await request("/xyz/topp:states/EPSG:4326/3/x/2.png?explain")).status).toBe(400);
  });

  it("is a word in another parameter's value like any other", async () => {
    await using protocols = await startProtocols();
    const { headers } = await protocols.request("/xyz/topp:states/EPSG:4326/3/2/2.png?CQL_FILTER=NAME=%27explain%27");
    expect(headers["content-type"]).toBe("image/png");
  });
});
