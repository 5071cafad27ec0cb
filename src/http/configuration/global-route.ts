import { map, type RootedDocument } from "../../gwc/document-node.ts";
import { GLOBAL_ROOTS } from "../../gwc/field-types.ts";
import { conflict } from "../../lib/refusal.ts";
import { refuse } from "../../lib/result.ts";
import { administering, type Exchange, type Reply, type Route, type RouteOptions, reading } from "../resource.ts";
import { documentAnswer } from "./configured-route.ts";
import { changedFields, decodeDocument } from "./decode-document.ts";
import { bodyForm, splitForm } from "./document-form.ts";

/** The version of GeoWebCache's configuration whose elements this interface has. */
const VERSION = "2.0.0";
/** GeoWebCache's time limit of one request to a server, in seconds. */
const BACKEND_TIMEOUT_SECONDS = 120;

/** Fields of which GeoWebCache says that they cannot be changed. */
const READ_ONLY: ReadonlySet<string> = new Set(["version", "identifier", "location"]);

type GlobalParts = Pick<RouteOptions, "configured">;

/** `/rest/global`. */
export function globalRoute(parts: GlobalParts): Route {
  return {
    resourceAt: ([first, second = "", ...more]) => {
      const { name, form } = splitForm(second);
      if (first !== "rest" || name !== "global" || more.length > 0) return undefined;
      return {
        methods: {
          GET: reading(async (exchange) => documentAnswer(exchange, form, "json", globalDocument(parts))),
          PUT: administering((exchange) => putAnswer(parts, exchange)),
        },
      };
    },
  };
}

function globalDocument({ configured }: GlobalParts): RootedDocument {
  const { file, dataDir } = configured();
  const node = map([
    ["runtimeStatsEnabled", true],
    ["wmtsCiteCompliant", false],
    ["backendTimeout", BACKEND_TIMEOUT_SECONDS],
    ["version", VERSION],
    ["identifier", dataDir],
    ["location", file ?? ""],
  ]);
  return { root: "global", node };
}

/** Accepts what changes nothing: the settings stand in the configuration file. */
async function putAnswer(parts: GlobalParts, exchange: Exchange): Promise<Reply> {
  const form = bodyForm(exchange);
  if (!form.ok) return form;
  const decoded = await exchange.body((bytes) =>
    decodeDocument(bytes, form.value, "the settings", GLOBAL_ROOTS, undefined),
  );
  if (!decoded.ok) return decoded;
  const changed = changedFields(decoded.value, globalDocument(parts));
  const readOnly = changed.find((name) => READ_ONLY.has(name));
  if (readOnly !== undefined) {
    const message = `org.geowebcache.rest.exception.RestException 400 BAD_REQUEST: Cannot modify read-only property "${readOnly}"`;
    return refuse({ code: "bad_field", message });
  }
  if (changed.length === 0) return { status: 200, body: "" };
  const place = parts.configured().file ?? "its flags and variables";
  return refuse(
    conflict(`${changed.join(", ")}: the settings of the server stand in ${place}, and are changed there.`),
  );
}
