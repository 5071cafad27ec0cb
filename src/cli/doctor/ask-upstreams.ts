import PQueue from "p-queue";
import type { Layer } from "../../layer/layer.ts";
import { pathOf, type WmsSourceOptions } from "../../layer/source-options.ts";
import { answerText } from "../../lib/text/answer-text.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { deadline } from "../../lib/time/deadline.ts";
import { createHttpFetch } from "../../source/http/http-fetch.ts";
import { checkStatus } from "../../source/http/image-response.ts";
import { withQuery } from "../../source/http/query.ts";
import { addressesOf, originOf, serversOf, withSubdomains } from "../../source/http/servers.ts";
import { SourceError } from "../../source/source.ts";
import { readWmsCatalogue, type WmsCatalogue } from "../../source/wms/wms-catalogue.ts";
import { adviceOn } from "./advice.ts";
import { type Bounds, pictureFault } from "./ask-picture.ts";
import type { Finding } from "./finding.ts";
import { wmsFindings } from "./wms-findings.ts";

/** The time limit of one request, and of all requests. */
export interface TimeLimits {
  readonly requestMs: number;
  readonly totalMs: number;
}

const TIME_LIMITS: TimeLimits = { requestMs: 4000, totalMs: 8000 };
const MOST_CONNECTIONS = 4;

/**
 * Checks the upstreams of all layers at once, each with few connections. If a source has several servers, checks each
 * server. Returns the faults of the layers.
 */
export async function askUpstreams(
  layers: readonly Layer[],
  clock: Clock,
  { requestMs, totalMs }: TimeLimits = TIME_LIMITS,
): Promise<readonly Finding[]> {
  const bounds = { clock, requestMs, signal: deadline(clock, totalMs) };
  const byUpstream = grouped(layers.flatMap(withOneServer), upstreamOf);
  const findings = [...byUpstream].map(async ([upstream, its]) => askUpstream(upstream, its, bounds));
  return (await Promise.all(findings)).flat();
}

/** Returns a layer once for each server of its source, so that no server replaces another one that is down. */
function withOneServer(layer: Layer): readonly Layer[] {
  const { source } = layer;
  if (!("url" in source)) return [layer];
  const subdomains = source.type === "xyz" ? source.subdomains : [];
  return addressesOf(source)
    .flatMap((address) => withSubdomains(address, subdomains))
    .map((url) => ({ ...layer, source: { ...source, url } }));
}

function upstreamOf({ source }: Layer): string {
  if ("url" in source) return originOf(source, addressesOf(source)[0] ?? "");
  return pathOf(source) ?? source.type;
}

async function askUpstream(upstream: string, layers: readonly Layer[], bounds: Bounds): Promise<Finding[]> {
  const connections = Math.min(MOST_CONNECTIONS, ...layers.map(({ source }) => source.connections));
  const queue = new PQueue({ concurrency: connections });
  const catalogues = new Map<string, Promise<WmsCatalogue>>();
  const catalogueOf = (source: WmsSourceOptions): Promise<WmsCatalogue> => {
    const { url, version, username, password, authentication, headers, cookies, vendorParameters, proxy, tls } = source;
    const identity = [username, password, authentication, headers, cookies];
    const key = JSON.stringify([url, version, identity, vendorParameters, proxy, tls]);
    const catalogue = catalogues.get(key) ?? queue.add(() => capabilities(source, bounds));
    catalogues.set(key, catalogue);
    return catalogue;
  };
  const findings = layers.map(async (layer): Promise<Finding[]> => {
    // Messages quote the upstream, and are shown on a terminal.
    const finding = (message: string): Finding => ({
      severity: "error",
      upstream,
      layers: [layer.name],
      message: message.replace(/\p{C}/gu, "…"),
    });
    const { source } = layer;
    if (source.type === "demo" || source.type === "group" || source.type === "none") return [];
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
    const pictures = layer.gridSubsets.map((subset) => queue.add(() => pictureFault(layer, subset, bounds)));
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

/** Merges equal findings of several layers: an upstream that is down is one finding. */
function joined(findings: readonly Finding[]): Finding[] {
  return [...grouped(findings, ({ message }) => message).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, layers: [first, ...others].flatMap(({ layers }) => layers) }],
  );
}

/**
 * Reads the capabilities in the version of the source. Version 1.1.1 lacks the picture limit, which is read from 1.3.0.
 * @throws SourceError
 */
async function capabilities(source: WmsSourceOptions, bounds: Bounds): Promise<WmsCatalogue> {
  const catalogue = await capabilitiesIn(source.version, source, bounds);
  if (source.version === "1.3.0" || catalogue.maxWidth !== undefined) return catalogue;
  try {
    const { maxWidth, maxHeight, layerLimit } = await capabilitiesIn("1.3.0", source, bounds);
    return { ...catalogue, maxWidth, maxHeight, layerLimit };
  } catch (error) {
    // A WMS need not support 1.3.0. If the WMS is down, the requests for pictures report it.
    if (error instanceof SourceError) return catalogue;
    throw error;
  }
}

/** @throws SourceError */
async function capabilitiesIn(
  version: WmsSourceOptions["version"],
  source: WmsSourceOptions,
  { clock, requestMs, signal }: Bounds,
): Promise<WmsCatalogue> {
  const options = { ...source, timeoutMs: Math.min(source.timeoutMs, requestMs) };
  await using http = createHttpFetch(clock, options, serversOf(source));
  const url = withQuery(addressesOf(source)[0] ?? "", {
    SERVICE: "WMS",
    VERSION: version,
    REQUEST: "GetCapabilities",
    ...Object.fromEntries(Object.entries(source.vendorParameters).map(([key, value]) => [key.toUpperCase(), value])),
  });
  const text = await http.request(
    { url, form: undefined },
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
