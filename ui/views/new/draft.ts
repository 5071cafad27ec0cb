import { signal } from "@preact/signals";
import { asJson, JOB_OPTIONS, type JobType, optionFlags, TYPES } from "../../core/model/job-options.ts";
import type { ApiRequest, Doc } from "../../core/server/api.ts";
import { nuthatchCommand, optionWords, parameterWords } from "../../core/server/command.ts";
import { type GridSubset, offeredLevels } from "../../map/grid.ts";
import { parseParameters, type TileSet } from "../../map/tile-set.ts";

/** An area that is too long for an address, from a file of the user. */
export const longArea = signal<string | undefined>(undefined);
/** The most characters of an area in the address. */
const LONGEST_IN_ADDRESS = 1_500;

/**
 * Returns the changes of the query for another area. Undefined removes the area. A short area is in the query itself.
 */
export function areaChange(area: string | undefined): Readonly<Record<string, string | undefined>> {
  const isLong = area !== undefined && area.length > LONGEST_IN_ADDRESS;
  longArea.value = isLong ? area : undefined;
  return { area: isLong ? undefined : area, bounds: undefined, areaCrs: undefined };
}

/**
 * The description of a job in the form. The query of the address is its only state. Its keys are the fields of `POST
 * /api/v1/jobs`.
 */
export interface Draft {
  readonly type: JobType;
  readonly query: URLSearchParams;
  readonly bounds: readonly number[] | undefined;
  /** The area as GeoJSON or WKT. */
  readonly area: string | undefined;
  readonly zoomStart: number;
  readonly zoomStop: number;
  /**
   * Whether the form describes a truncate of the whole layer. This is not a job: it happens at once, and can be undone.
   */
  readonly isWholeLayer: boolean;
}

export function draftOf(query: URLSearchParams, subset: GridSubset): Draft {
  const type = TYPES.find((one) => one === query.get("type")) ?? "seed";
  const { zoomStart, zoomStop } = levelsOf(query, subset, type);
  const bounds = query.get("bounds")?.split(",").map(Number);
  return {
    type,
    query,
    bounds,
    area: query.get("area") ?? longArea.value,
    zoomStart,
    zoomStop,
    isWholeLayer: type === "truncate" && query.get("part") !== "1" && bounds === undefined,
  };
}

/** The most tiles of the levels in a new form. */
const FIRST_TILES = 20_000;

/** Returns the levels in the query. By default the levels with few tiles, or for a truncate all levels. */
function levelsOf(query: URLSearchParams, subset: GridSubset, type: JobType) {
  const given = (name: string): number | undefined => {
    const text = query.get(name);
    return text !== null && /^\d{1,2}$/.test(text) ? Number(text) : undefined;
  };
  const zoomStart = given("zoomStart") ?? subset.zoomStart;
  let sum = 0;
  let most = subset.zoomStart;
  for (const { z, tiles } of offeredLevels(subset)) {
    sum += Number(tiles);
    if (sum <= FIRST_TILES) most = z;
  }
  const zoomStop = given("zoomStop") ?? (type === "truncate" ? subset.zoomStop : Math.max(zoomStart, most));
  return { zoomStart, zoomStop };
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the body of `POST /api/v1/jobs` and `/api/v1/estimate`. */
export function bodyOf(layer: string, { subset, format, parameters }: TileSet, draft: Draft): Fields {
  const { type, query, bounds, area } = draft;
  if (draft.isWholeLayer) return { layer, type, parameterSets: "*" };
  const more = JOB_OPTIONS.flatMap(({ name, types, read }) => {
    const text = query.get(name) ?? "";
    const value = text === "" || !types.includes(type) ? undefined : read(text);
    return value === undefined ? [] : [[name, value] as const];
  });
  const sets = query.get("parameterSets") ?? "";
  const areaCrs = query.get("areaCrs") ?? "";
  return {
    layer,
    type,
    gridSet: subset.gridSet,
    format,
    ...(Object.keys(parameters).length === 0 || query.has("parameterSets") ? {} : { parameters }),
    ...(area === undefined
      ? bounds === undefined
        ? {}
        : { bounds }
      : { area: area.trimStart().startsWith("{") ? asJson(area) : area, ...(areaCrs === "" ? {} : { areaCrs }) }),
    zoomStart: draft.zoomStart,
    zoomStop: draft.zoomStop,
    ...(sets === "" ? {} : { parameterSets: asJson(sets) }),
    ...Object.fromEntries(more),
  };
}

/** Returns the request for the job, or the truncation, that the form describes. */
export function requestOf(
  body: Fields,
  draft: Draft,
  { key, confirmed }: { key: string; confirmed: boolean },
): ApiRequest {
  if (draft.isWholeLayer) return { method: "POST", path: "truncations", body: { layer: body["layer"], mode: "hard" } };
  return {
    method: "POST",
    path: "jobs",
    body: confirmed ? { ...body, confirm: true } : body,
    headers: { "Idempotency-Key": key },
  };
}

/** Returns the equivalent command line. It expects an area in a file, `area.json` or `area.wkt`. */
export function commandOf(layer: string, { subset, format }: TileSet, draft: Draft, isConfirmed: boolean): string {
  const { type, query, bounds, area } = draft;
  if (draft.isWholeLayer) return nuthatchCommand("truncate", layer);
  const file = area === undefined ? undefined : area.trimStart().startsWith("{") ? "area.json" : "area.wkt";
  const given = JOB_OPTIONS.flatMap(({ name, types }) => (types.includes(type) ? [[name, query.get(name)]] : []));
  return nuthatchCommand(
    type,
    layer,
    ...optionWords({
      "grid-set": subset.gridSet,
      format,
      zoom: `${draft.zoomStart}-${draft.zoomStop}`,
      bounds: area === undefined ? bounds?.join(",") : undefined,
      area: file,
      "area-crs": area === undefined ? undefined : query.get("areaCrs"),
    }),
    ...parameterWords(parseParameters(query.get("parameters"))),
    ...(query.get("parameterSets") === "*" ? ["--all-parameters"] : []),
    ...windowFlags(query.get("runWindow")),
    ...optionFlags(Object.fromEntries(given)),
    ...(isConfirmed ? ["--yes"] : []),
  );
}

function windowFlags(text: string | null): readonly string[] {
  const window = parseWindow(text);
  return window === undefined
    ? []
    : optionWords({ "run-window": `${window.from}-${window.to}`, "time-zone": window.timeZone });
}

export interface RunWindow {
  readonly from: string;
  readonly to: string;
  /** The time zone. Empty for UTC. */
  readonly timeZone: string;
}

export function parseWindow(text: string | null): RunWindow | undefined {
  if (text === null) return undefined;
  const { from = "", to = "", timeZone = "" } = parseParameters(text);
  return { from, to, timeZone };
}

/** Returns a key that makes a repeated request harmless. Pages without TLS lack `randomUUID`. */
export const idempotencyKey = (): string =>
  [...window.crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

type OneEstimate = Doc<"Estimate">;
/** An estimate. The estimate of several jobs has no levels and no rate. */
export type Estimate = Omit<OneEstimate, "zooms" | "tilesPerSecond"> &
  Partial<Pick<OneEstimate, "zooms" | "tilesPerSecond">>;
