import PQueue from "p-queue";
import { rectExtent } from "../../grid/grid-set.ts";
import { PNG } from "../../layer/format.ts";
import type { GridSubset, Layer, WmsSourceOptions } from "../../layer/layer.ts";
import { createSource } from "../../source/create-source.ts";
import { createHttpFetch } from "../../source/http/http-fetch.ts";
import { checkStatus } from "../../source/http/image-response.ts";
import { withQuery } from "../../source/http/query.ts";
import { addressesOf, originOf, serversOf } from "../../source/http/servers.ts";
import { type RenderRequest, SourceError } from "../../source/source.ts";
import { readWmsCatalogue, type WmsCatalogue } from "../../source/wms/wms-catalogue.ts";
import { answerText } from "../commands/answer-text.ts";
import { adviceOn } from "./advice.ts";
import type { Finding } from "./finding.ts";
import { wmsFindings } from "./wms-findings.ts";

/** The time limits of one request, and of all of them. */
export interface TimeLimits {
  readonly requestMs: number;
  readonly totalMs: number;
}

const TIME_LIMITS: TimeLimits = { requestMs: 4000, totalMs: 8000 };
const MOST_CONNECTIONS = 4;

/** How a request is limited: by its own time, and by the signal that ends all of them. */
interface Bounds {
  readonly requestMs: number;
  readonly signal: AbortSignal;
}

/** Asks the upstreams of all layers at once, each by few connections, and returns what is wrong with the layers. */
export async function askUpstreams(
  layers: readonly Layer[],
  { requestMs, totalMs }: TimeLimits = TIME_LIMITS,
): Promise<readonly Finding[]> {
  const bounds = { requestMs, signal: AbortSignal.timeout(totalMs) };
  const byUpstream = grouped(layers, upstreamOf);
  const asked = [...byUpstream].map(async ([upstream, its]) => askUpstream(upstream, its, bounds));
  return (await Promise.all(asked)).flat();
}

function upstreamOf({ source }: Layer): string {
  if (source.type === "demo") return "demo";
  if (source.type === "mbtiles" || source.type === "pmtiles") return source.file;
  return originOf(source, addressesOf(source)[0] ?? "");
}

async function askUpstream(upstream: string, layers: readonly Layer[], bounds: Bounds): Promise<Finding[]> {
  const connections = Math.min(MOST_CONNECTIONS, ...layers.map(({ source }) => source.connections));
  const queue = new PQueue({ concurrency: connections });
  const catalogues = new Map<string, Promise<WmsCatalogue>>();
  const catalogueOf = (source: WmsSourceOptions): Promise<WmsCatalogue> => {
    const { url, version, username, password, vendorParameters, proxy, tls } = source;
    const key = JSON.stringify([url, version, username, password, vendorParameters, proxy, tls]);
    const asked = catalogues.get(key) ?? queue.add(() => capabilities(source, bounds));
    catalogues.set(key, asked);
    return asked;
  };
  const findings = layers.map(async (layer): Promise<Finding[]> => {
    // Messages have words of the upstream in them, and are shown on a terminal.
    const finding = (message: string): Finding => ({
      severity: "error",
      upstream,
      layers: [layer.name],
      message: message.replace(/\p{C}/gu, "…"),
    });
    const { source } = layer;
    if (source.type === "demo") return [];
    if (source.type === "wms") {
      let wms: WmsCatalogue;
      try {
        wms = await catalogueOf(source);
      } catch (error) {
        return [finding(`GetCapabilities: ${adviceOn(error)}`)];
      }
      const differences = wmsFindings(layer, source, wms);
      if (differences.length > 0) return differences.map(finding);
    }
    const pictures = layer.gridSubsets.map((subset) => queue.add(() => oneTile(layer, subset, bounds)));
    return (await Promise.all(pictures)).flatMap((message) => (message === undefined ? [] : [finding(message)]));
  });
  return joined((await Promise.all(findings)).flat());
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

/** Joins equal findings of several layers: an upstream that is down is one finding. */
function joined(findings: readonly Finding[]): Finding[] {
  return [...grouped(findings, ({ message }) => message).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, layers: [first, ...others].flatMap(({ layers }) => layers) }],
  );
}

/**
 * Reads the capabilities in the version of the source. Those of 1.1.1 have no picture limit: it is in those of 1.3.0.
 * @throws SourceError
 */
async function capabilities(source: WmsSourceOptions, bounds: Bounds): Promise<WmsCatalogue> {
  const catalogue = await capabilitiesIn(source.version, source, bounds);
  if (source.version === "1.3.0" || catalogue.maxWidth !== undefined) return catalogue;
  try {
    const { maxWidth, maxHeight, layerLimit } = await capabilitiesIn("1.3.0", source, bounds);
    return { ...catalogue, maxWidth, maxHeight, layerLimit };
  } catch (error) {
    // A WMS need not know 1.3.0. If it has failed meanwhile, so do the requests for pictures.
    if (error instanceof SourceError) return catalogue;
    throw error;
  }
}

/** @throws SourceError */
async function capabilitiesIn(
  version: WmsSourceOptions["version"],
  source: WmsSourceOptions,
  { requestMs, signal }: Bounds,
): Promise<WmsCatalogue> {
  const options = { ...source, timeoutMs: Math.min(source.timeoutMs, requestMs) };
  await using http = createHttpFetch(options, serversOf(source));
  const url = withQuery(addressesOf(source)[0] ?? "", {
    SERVICE: "WMS",
    VERSION: version,
    REQUEST: "GetCapabilities",
    ...Object.fromEntries(Object.entries(source.vendorParameters).map(([key, value]) => [key.toUpperCase(), value])),
  });
  const text = await http.request(
    url,
    signal,
    (answer) => {
      checkStatus(answer);
      return answerText(answer.body, answer.contentType);
    },
    "application/vnd.ogc.wms_xml, text/xml, */*;q=0.1",
  );
  const read = readWmsCatalogue(text);
  if (!read.ok) throw new SourceError("exception", `the answer is no capabilities of a WMS (${read.error})`);
  return read.value;
}

/** Renders the tile in the middle of a subset's first level. Returns what is wrong; undefined: nothing. */
async function oneTile(layer: Layer, subset: GridSubset, { requestMs, signal }: Bounds): Promise<string | undefined> {
  const { gridSet, zoomStart: z } = subset;
  const rect = subset.coverage[z];
  const [format] = layer.formats;
  if (rect === undefined || format === undefined) return undefined;
  const x = Math.floor((rect.minX + rect.maxX) / 2);
  const y = Math.floor((rect.minY + rect.maxY) / 2);
  const request: RenderRequest = {
    gridSet,
    extent: rectExtent(gridSet, { z, minX: x, maxX: x, minY: y, maxY: y }),
    width: gridSet.tileWidth,
    height: gridSet.tileHeight,
    tile: { x, y, z },
    format: layer.formatsTogether && format.kind === "image" ? PNG : format,
    parameters: Object.fromEntries(layer.parameterFilters.map((filter) => [filter.key, filter.default])),
  };
  try {
    const { source } = layer;
    const timed = "timeoutMs" in source ? { ...source, timeoutMs: Math.min(source.timeoutMs, requestMs) } : source;
    await using created = await createSource(timed, () => undefined);
    await created.render(request, signal);
    return undefined;
  } catch (error) {
    if (error instanceof SourceError && error.failure === "no_tile") return undefined;
    return `a tile of ${gridSet.id}: ${adviceOn(error)}`;
  }
}
