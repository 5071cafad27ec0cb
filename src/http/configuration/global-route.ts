import { BACKEND_TIMEOUT_SECONDS } from "../../configuration/fields/elements/layer-elements.ts";
import { FILE_SETTINGS_ELEMENTS, SETTINGS_ELEMENTS } from "../../configuration/fields/elements/settings-elements.ts";
import { RENAMED } from "../../configuration/geowebcache/read-file.ts";
import { changedFields, decodeDocument } from "../../configuration/gwc/codec/decode-document.ts";
import { SETTINGS, settingsOf } from "../../configuration/gwc/configured-object.ts";
import { type MapNode, map, type RootedDocument } from "../../configuration/gwc/document-node.ts";
import { OBJECTS } from "../../configuration/gwc/object-kinds.ts";
import { GLOBAL_ROOTS, mergedSettings, serviceNode, settingsFault } from "../../configuration/gwc/settings.ts";
import { refuse } from "../../lib/result.ts";
import { administering, type Exchange, type Reply, type Route, type RouteOptions, reading } from "../resource.ts";
import { documentAnswer } from "./configured-route.ts";
import { bodyForm, formOfResource } from "./document-form.ts";

/** The version of GeoWebCache's configuration whose elements this interface uses. */
const VERSION = "2.0.0";

/** Fields that GeoWebCache declares unchangeable. */
const READ_ONLY: ReadonlySet<string> = new Set(["version", "identifier", "location"]);

/** Settings of a file that this resource omits, as GeoWebCache does. */
const HIDDEN: ReadonlySet<string> = new Set(
  Object.keys(FILE_SETTINGS_ELEMENTS).filter((name) => !(name in SETTINGS_ELEMENTS)),
);

/** Returns whether a field is an element of the file that this resource does not change, as in GeoWebCache. */
const isOfFile = (name: string): boolean =>
  HIDDEN.has(name) || RENAMED.has(name) || Object.values(OBJECTS).some(({ container }) => container === name);

type GlobalParts = Pick<RouteOptions, "configured" | "changeObject">;

/** `/rest/global`. */
export function globalRoute(parts: GlobalParts): Route {
  return {
    resourceAt: (segments) => {
      const found = segments[0] === "rest" ? formOfResource("global", segments) : undefined;
      if (found === undefined) return undefined;
      const { form } = found;
      return {
        methods: {
          GET: reading(async (exchange) => documentAnswer(exchange, form, "json", globalDocument(parts))),
          PUT: administering((exchange) => putAnswer(parts, exchange)),
        },
      };
    },
  };
}

/** Returns the settings that were put over HTTP, with facts about this server (version, identifier, location). */
function globalDocument({ configured }: GlobalParts): RootedDocument {
  const { file, dataDir, geowebcache, cluster, objects, serviceInformation, compat } = configured();
  const standard = map([
    ["serviceInformation", serviceNode(serviceInformation)],
    ["runtimeStatsEnabled", true],
    // GeoWebCache leaves out what is not set.
    ["fullWMS", compat.fullWms ? true : undefined],
    ["wmtsCiteCompliant", compat.wmtsCiteCompliant],
    ["backendTimeout", BACKEND_TIMEOUT_SECONDS],
  ]);
  const own = map([
    ["version", VERSION],
    // Equal on all nodes of a cluster, so that each node accepts a document of another node.
    ["identifier", cluster === undefined ? (geowebcache?.directory ?? dataDir) : "cluster"],
    ["location", cluster === undefined ? (file ?? "") : ""],
  ]);
  const put: MapNode = map(settingsOf(objects)?.fields.filter(([name]) => !HIDDEN.has(name)) ?? []);
  return mergedSettings(mergedSettings(standard, put).node, own);
}

/** Merges the given fields into the present settings. */
async function putAnswer(parts: GlobalParts, exchange: Exchange): Promise<Reply> {
  const form = bodyForm(exchange);
  if (!form.ok) return form;
  const decoded = await exchange.body((bytes) =>
    decodeDocument(bytes, form.value, {
      what: "the settings",
      roots: GLOBAL_ROOTS,
      present: globalDocument(parts),
      strict: true,
    }),
  );
  if (!decoded.ok) return decoded;
  const given = { ...decoded.value, node: map(decoded.value.node.fields.filter(([name]) => !isOfFile(name))) };
  const changed = changedFields(given, globalDocument(parts));
  const readOnly = changed.find((name) => READ_ONLY.has(name));
  if (readOnly !== undefined) {
    const message = `org.geowebcache.rest.exception.RestException 400 BAD_REQUEST: Cannot modify read-only property "${readOnly}"`;
    return refuse({ code: "bad_field", message });
  }
  if (changed.length === 0) return { status: 200, body: "" };
  const { node } = given;
  const fault = settingsFault(node);
  if (fault !== undefined) return refuse({ code: "bad_field", message: fault });
  // The settings are merged into the present ones when it is this change's turn.
  const document = { root: "global", node: map(node.fields.filter(([name]) => !READ_ONLY.has(name))) };
  const stored = await parts.changeObject({ kind: "settings", name: SETTINGS, document }, exchange.by);
  return stored.ok ? { status: 200, body: "" } : stored;
}
