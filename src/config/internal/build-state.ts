import { parsePostgresUrl } from "../../state/postgres/postgres-url.ts";
import type { StateOptions } from "../../state/state-options.ts";
import type { Problems } from "./problems.ts";
import type { ConfigurationDocument } from "./schema/configuration-schema.ts";

const EMBEDDED: StateOptions = { type: "embedded" };

/** Builds the place of the state. Problems never show the address, because it may contain a password. */
export function buildState(document: ConfigurationDocument["state"] | undefined, problems: Problems): StateOptions {
  if (document?.type !== "postgres") return EMBEDDED;
  const target = parsePostgresUrl(document.url);
  if (target.ok) return { type: "postgres", target: target.value };
  problems.add(["state", "url"], target.error);
  return EMBEDDED;
}
