import type { SourceOptions } from "../../layer/layer.ts";
import { hasControlCharacter } from "./build-grid-sets.ts";
import type { Path, Problems } from "./problems.ts";
import type { LayerDocument, WmsSourceDocument } from "./schema.ts";

const DEFAULT_CONNECTIONS = 8;
const DEFAULT_TIMEOUT_SECONDS = 30;
/** What Nuthatch itself asks for: not the operator's to set. */
const PROTOCOL_PARAMETERS = [
  "SERVICE",
  "REQUEST",
  "VERSION",
  "LAYERS",
  "STYLES",
  "SRS",
  "CRS",
  "BBOX",
  "WIDTH",
  "HEIGHT",
  "FORMAT",
  "TRANSPARENT",
];

export function buildSource(
  document: LayerDocument["source"],
  layer: string,
  path: Path,
  problems: Problems,
): SourceOptions {
  switch (document.type) {
    case "demo":
      return { type: "demo", dataset: document.dataset, connections: document.connections ?? DEFAULT_CONNECTIONS };
    case "wms":
      return buildWms(document, layer, path, problems);
  }
}

function buildWms(document: WmsSourceDocument, layer: string, path: Path, problems: Problems): SourceOptions {
  checkUrl(document.url, [...path, "url"], problems);
  const { layers = [layer], styles = [], username, password } = document;
  if (styles.length > layers.length)
    problems.add([...path, "styles"], `expected at most one per layer (${layers.length}), got ${styles.length}`);
  if (password !== undefined && (username ?? "") === "")
    problems.add(path, "password is given, but username is missing");
  if (username?.includes(":")) problems.add([...path, "username"], "expected a name without a colon");
  const vendorParameters: Record<string, string> = {};
  for (const [key, value] of Object.entries(document.vendorParameters ?? {})) {
    const at = [...path, "vendorParameters", key];
    if (PROTOCOL_PARAMETERS.includes(key.toUpperCase()))
      problems.add(at, "is set by the source itself; see the other keys of the source", "key");
    if (key === "" || hasControlCharacter(key)) problems.add(at, "expected the name of a parameter", "key");
    vendorParameters[key] = String(value);
  }
  return {
    type: "wms",
    url: document.url,
    version: document.version ?? "1.1.1",
    layers,
    styles,
    transparent: document.transparent ?? true,
    timeoutMs: Math.max(1, Math.round((document.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000)),
    connections: document.connections ?? DEFAULT_CONNECTIONS,
    vendorParameters,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

function checkUrl(text: string, path: Path, problems: Problems): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    problems.expected(path, "an address with http:// or https://", text);
  // An address is shown in logs and pages.
  else if (url.username !== "" || url.password !== "")
    problems.add(path, "expected no credentials in the address; source.username and source.password are for them");
}
