import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { KeptUser } from "../../account/user.ts";
import { readDirectory, readWithNames } from "../../configuration/geowebcache/directory.ts";
import { inForce } from "../../configuration/geowebcache/read-file.ts";
import { decodeDocument } from "../../configuration/gwc/codec/decode-document.ts";
import { type ConfiguredObject, SETTINGS } from "../../configuration/gwc/configured-object.ts";
import { fieldOf, type NamedNode, type RootedDocument, textOf } from "../../configuration/gwc/document-node.ts";
import type { MapType } from "../../configuration/gwc/element.ts";
import { OBJECTS } from "../../configuration/gwc/object-kinds.ts";
import { ownDocument } from "../../configuration/gwc/own-document.ts";
import { GLOBAL_ROOTS } from "../../configuration/gwc/settings.ts";
import { builtInGridSetIds } from "../../grid/built-in.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { readWholeFile } from "../../lib/file/read-whole-file.ts";
import { type Content, isMap } from "../../lib/is-map.ts";
import { refusalMessage } from "../../lib/refusal.ts";
import type { QuotaConfiguration } from "../../quota/configuration/quota-configuration.ts";
import { MigrationError } from "../migration-error.ts";

/** A configuration of GeoWebCache. */
export interface GeoWebCacheSource {
  readonly objects: readonly ConfiguredObject[];
  /** The directory with the tiles of layers without a store. Undefined if it is unknown. */
  readonly directory: string | undefined;
  /**
   * The directory that relative paths in its files start from, as with `serve --geowebcache`. Undefined on another
   * machine.
   */
  readonly cwd: string | undefined;
  readonly users: readonly KeptUser[];
  readonly quota: QuotaConfiguration | undefined;
  readonly warnings: readonly string[];
}

/** A running server, of GeoWebCache or Nuthatch. */
export interface RunningServer {
  /** Returns the body of a GET. Throws if the server refuses the request. */
  get(path: string): Promise<string>;
  /** Returns the body of a GET. Undefined if the server refuses the request with a status below 500. */
  find(path: string): Promise<string | undefined>;
}

/** Reads a directory or a file of GeoWebCache. @throws MigrationError */
export async function readGeoWebCache(source: string): Promise<GeoWebCacheSource> {
  if (isDirectory(source)) {
    const directory = await readDirectory(source, process.cwd(), "only read");
    const [problem] = directory.problems;
    if (problem !== undefined) throw new MigrationError(`${problem.file}: ${problem.message}`, "invalid");
    return { ...directory, directory: directory.path, cwd: process.cwd() };
  }
  const bytes = await readWholeFile(source).catch((error: unknown) => fileFault(error));
  if (typeof bytes === "string") throw new MigrationError(`${source} cannot be read: ${bytes}`, "unreadable");
  const { read } = await readWithNames(bytes, process.cwd());
  if (!read.ok) throw new MigrationError(`${source}: ${refusalMessage(read.error)}`, "invalid");
  const { objects, notes } = read.value;
  return {
    objects: inForce(objects),
    directory: undefined,
    cwd: process.cwd(),
    users: [],
    quota: undefined,
    warnings: notes,
  };
}

function isDirectory(path: string): boolean {
  try {
    return statSync(resolve(path)).isDirectory();
  } catch {
    // Reading it as a file then gives the message about the missing file.
    return false;
  }
}

const SEGMENTS = [
  ["store", "blobstores"],
  ["gridSet", "gridsets"],
  ["layer", "layers"],
] as const;

/**
 * Reads the documents of a running server: of GeoWebCache or Nuthatch. They do not contain secrets.
 * @param form `configurations` reads layers in the form of the configuration file, because many sources have no element
 * of GeoWebCache
 */
export async function readServer(
  server: RunningServer,
  form: "configurations" | "documents" = "documents",
): Promise<GeoWebCacheSource> {
  const settings = await documentOf(server, join("/rest", `${SETTINGS}.xml`), GLOBAL_ROOTS);
  const objects: ConfiguredObject[] = [{ kind: "settings", name: SETTINGS, document: settings }];
  for (const [kind, segment] of SEGMENTS) {
    const { roots, nameField } = OBJECTS[kind];
    const names: unknown = JSON.parse(await server.get(`/rest/${segment}.json`));
    for (const name of Array.isArray(names) ? names.map(String) : []) {
      if (kind === "gridSet" && builtInGridSetIds.some((known) => known === name)) continue;
      const path = `/rest/${segment}/${encodeURIComponent(name)}.xml`;
      const document = await documentOf(server, path, roots);
      const own = kind === "layer" ? await configurationOf(server, name) : undefined;
      objects.push({
        kind,
        name: textOf(document.node, nameField) ?? name,
        document:
          own === undefined
            ? document
            : form === "configurations"
              ? ownDocument(own)
              : withNetwork(document, own["source"]),
      });
    }
  }
  return { objects, directory: undefined, cwd: undefined, users: [], quota: undefined, warnings: [] };
}

/**
 * Returns a layer in the form of the configuration file. Undefined if the server does not serve it, or is GeoWebCache.
 */
async function configurationOf(server: RunningServer, name: string): Promise<Content | undefined> {
  const text = await server.find(`/api/v1/layers/${encodeURIComponent(name)}`);
  const found = text === undefined ? undefined : parsed(text);
  const configuration = isMap(found) ? found["configuration"] : undefined;
  return isMap(configuration) ? configuration : undefined;
}

/** Parses a JSON text. Undefined for any other text, such as a page of GeoWebCache. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keys of a source whose elements GeoWebCache's documents omit if all layers share the values. */
const NETWORK = ["username", "password", "proxy"];

/** Returns the document of a layer with the credentials and the proxy in force. */
function withNetwork({ root, node }: RootedDocument, source: unknown): RootedDocument {
  if (root !== "wmsLayer" || !isMap(source)) return { root, node };
  const added = NETWORK.flatMap((key): NamedNode[] => {
    const value = source[key];
    const element = OBJECTS.layer.pathOf(`source.${key}`);
    return typeof value === "string" && fieldOf(node, element) === undefined ? [[element, value]] : [];
  });
  return { root, node: { ...node, fields: [...node.fields, ...added] } };
}

async function documentOf(server: RunningServer, path: string, roots: Readonly<Record<string, MapType>>) {
  const text = await server.get(path);
  const decoded = decodeDocument(Buffer.from(text), "xml", { what: path, roots, keepsMasks: true });
  if (!decoded.ok) throw new MigrationError(`${path}: ${refusalMessage(decoded.error)}`, "unreadable");
  return decoded.value;
}
