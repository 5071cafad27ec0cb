import { createHash } from "node:crypto";
import { extentOf } from "../../../grid/extent.ts";
import { asLayerName, type LayerName } from "../../../layer/tile-set.ts";
import { defined } from "../../../lib/defined.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { takeFields } from "../../../plan/job/job-fields.ts";
import { type JobTerms, STANDARD_TERMS } from "../../../plan/job/job-terms.ts";
import type { BatchRequest } from "../../../plan/plan-batch.ts";
import type { RequestedArea, SeedRequest } from "../../../plan/seed-request.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { areaOfBounds, decodeArea, decodeTiles } from "./area-fields.ts";
import type { Decoding } from "./decoding.ts";
import { type JobRequestDocument, jobRequestSchema } from "./job-document.ts";
import { brokenRule, isPlural } from "./job-rules.ts";

/** A job requested under `/api/v1`: well-formed, but not yet validated against its layer. */
export interface RequestedJob {
  readonly layer: LayerName;
  readonly request: SeedRequest;
  /**
   * Returns a hash of the request's values, which does not depend on the order of fields or on white space. Takes some
   * 10 ms for the largest body.
   */
  readonly digest: () => string;
  /** True if the client has confirmed the size of the job (`confirm`). */
  readonly confirmed: boolean;
}

/** A request for jobs of several layers, grid sets, formats or parameters. */
export interface RequestedJobs extends Pick<RequestedJob, "digest" | "confirmed"> {
  readonly many: BatchRequest;
}

/** Decodes the body of a POST to `/api/v1/jobs` or `/api/v1/estimate` as strict JSON. Yields between slices of work. */
export function* decodeJobBody(body: Uint8Array): Decoding<RequestedJob | RequestedJobs> {
  const document = parseObject(body, "job");
  yield;
  return document.ok ? yield* decodeJobs(document.value) : document;
}

/** Decodes a document that requests one job or several. Yields between slices of work. */
export function* decodeJobs(document: object): Decoding<RequestedJob | RequestedJobs> {
  const given = new Map(Object.entries(document).filter(([, value]) => value !== null));
  const decoded = decodeBy(jobRequestSchema, withoutNulls(document));
  if (!decoded.ok) return decoded;
  const broken = brokenRule(decoded.value, Object.fromEntries(given));
  if (broken !== undefined) return refuse(broken);
  const {
    layers,
    gridSets,
    formats,
    parameterSets,
    layer = "*",
    confirm: confirmed = false,
    ...fields
  } = decoded.value;
  const request = yield* requestOf(fields);
  if (!request.ok) return request;
  const digest = (): string =>
    digestOf([layer, { ...request.value, parameters: [...request.value.parameters].sort() }]);
  if (!isPlural(decoded.value)) return ok({ layer: asLayerName(layer), request: request.value, digest, confirmed });
  const choices = defined({ gridSets, formats, parameterSets });
  const layersAre = layers === undefined ? "names" : "patterns";
  const many: BatchRequest = { request: request.value, layers: layers ?? [layer], layersAre, ...choices };
  const sets = typeof parameterSets === "object" ? parameterSets.map((set) => [...set].sort()) : parameterSets;
  return ok({
    many,
    confirmed,
    digest: () => digestOf([digest(), layersAre, many.layers, gridSets, formats, sets]),
  });
}

const digestOf = (requested: unknown): string => createHash("sha256").update(JSON.stringify(requested)).digest("hex");

type Fields = Omit<JobRequestDocument, "layer" | "layers" | "gridSets" | "formats" | "parameterSets" | "confirm">;

/**
 * Returns the request of a document. Absent fields stay absent, so that later checks can distinguish values from
 * defaults.
 */
function* requestOf({ bounds, boundsCrs, area, areaCrs, ...document }: Fields): Decoding<SeedRequest> {
  const { fields, others } = takeFields(document);
  const { type = "seed", tiles: named, parameters = new Map<string, string>(), ...more } = others;
  const { priority, rateLimit, runWindow, supersede, ...rest } = more;
  const within = yield* areaOf({ bounds, boundsCrs, area, areaCrs });
  if (!within.ok) return within;
  const tiles = named === undefined ? ok(undefined) : yield* decodeTiles(named);
  if (!tiles.ok) return tiles;
  return ok({
    type,
    ...defined(rest),
    ...within.value,
    ...defined({ tiles: tiles.value }),
    parameters,
    ...fields,
    ...termsOf({ priority, rateLimit, runWindow }),
    ...(supersede === true ? { supersede } : {}),
  });
}

function termsOf(requested: Pick<JobRequestDocument, keyof JobTerms>): Pick<SeedRequest, "terms"> {
  const given = defined(requested);
  return Object.keys(given).length === 0 ? {} : { terms: { ...STANDARD_TERMS, ...given } };
}

/** Bounds without `boundsCrs` are in units of the grid set. Bounds with `boundsCrs` become an area. */
function* areaOf(
  document: Pick<Fields, "bounds" | "boundsCrs" | "area" | "areaCrs">,
): Decoding<Pick<SeedRequest, "bounds" | "area">> {
  const { bounds, boundsCrs, area, areaCrs } = document;
  if (area !== undefined) return asArea(yield* decodeArea(area, areaCrs));
  if (bounds === undefined) return ok({});
  const extent = extentOf(bounds);
  return boundsCrs === undefined ? ok({ bounds: extent }) : asArea(areaOfBounds(extent, boundsCrs));
}

const asArea = (area: Result<RequestedArea, Refusal>): Result<Pick<SeedRequest, "area">, Refusal> =>
  area.ok ? ok({ area: area.value }) : area;
