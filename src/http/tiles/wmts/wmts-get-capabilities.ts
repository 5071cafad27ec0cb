import type { Catalogue } from "../../../layer/catalogue.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import { inLanguage } from "../inspire-elements.ts";
import { type ProtocolRefusal, type RequestedDocument, XML_TYPE } from "../tile-parts.ts";
import { CAPABILITIES_TYPES, SECTIONS, type Section, wmtsCapabilities } from "./wmts-capabilities.ts";
import { invalid, missing } from "./wmts-exceptions.ts";

/** Returns the whole capabilities with GeoWebCache's type. */
export const wholeCapabilities = (catalogue: Catalogue, query: Query): RequestedDocument =>
  capabilities(catalogue, query, XML_TYPE);

function capabilities(
  catalogue: Catalogue,
  query: Query,
  contentType: string,
  sections?: ReadonlySet<Section>,
): Extract<RequestedDocument, { readonly parts: unknown }> {
  const inOne = inLanguage(catalogue, query);
  return {
    kind: "document",
    name: ["wmts", contentType, inOne.language, ...(sections === undefined ? ["whole"] : sections)].join(" "),
    contentType,
    fileName: "wmts-getcapabilities.xml",
    parts: (baseUrl) => wmtsCapabilities(inOne.catalogue, baseUrl, sections, inOne.language),
  };
}

/**
 * Parses the optional parameters of GetCapabilities (OGC 06-121r3, 7.3; 07-057r7, table 4): AcceptFormats, Sections and
 * UpdateSequence. GeoWebCache ignores them.
 */
export function parseGetCapabilities(catalogue: Catalogue, query: Query): Result<RequestedDocument, ProtocolRefusal> {
  const contentType = parseFormats(query.get("ACCEPTFORMATS"));
  const sections = parseSections(query.get("SECTIONS"));
  if (!sections.ok) return sections;
  const known = parseUpdateSequence(query.get("UPDATESEQUENCE"), catalogue.service.updateSequence);
  if (!known.ok) return known;
  // A client that has the current document gets the number alone.
  return ok(capabilities(catalogue, query, contentType, known.value === "current" ? new Set() : sections.value));
}

/** Returns the first type of the list that the server has. If it has none, the standard asks for application/xml. */
function parseFormats(text: string | undefined): string {
  if (text === undefined || text === "") return XML_TYPE;
  const wanted = text.split(",").map((type) => type.trim().toLowerCase());
  const found = wanted.flatMap((type) => CAPABILITIES_TYPES.find((one) => one === type) ?? []);
  return found[0] ?? CAPABILITIES_TYPES[0];
}

/** Returns the named sections. Undefined for all of them. */
function parseSections(text: string | undefined): Result<ReadonlySet<Section> | undefined, ProtocolRefusal> {
  if (text === undefined) return ok(undefined);
  if (text.trim() === "") return missing("sections");
  const sections = new Set<Section>();
  for (const name of text.split(",").map((one) => one.trim())) {
    const lower = name.toLowerCase();
    if (lower === "all") return ok(undefined);
    const section = SECTIONS.find((one) => one.toLowerCase() === lower);
    if (section !== undefined) sections.add(section);
    else if (lower !== "themes")
      return invalid("sections", badField("Sections", `${SECTIONS.join(", ")} or All`, name));
  }
  return ok(sections);
}

/** Returns whether the client's number is the current one or an older one. */
function parseUpdateSequence(text: string | undefined, current: number): Result<"current" | "older", ProtocolRefusal> {
  if (text === undefined || text === "") return ok("older");
  const given = /^\d{1,40}$/.test(text) ? BigInt(text) : undefined;
  if (given !== undefined && given <= BigInt(current)) return ok(given === BigInt(current) ? "current" : "older");
  return refuse({
    ...badField("UpdateSequence", `a number up to ${current}`, text),
    exception: { code: "InvalidUpdateSequence" },
  });
}
