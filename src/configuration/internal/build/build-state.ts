import { machineDisk } from "../../../lib/file/machine-disk.ts";
import { parsePostgresUrl } from "../../../state/postgres/postgres-url.ts";
import type { StateOptions } from "../../../state/state-options.ts";
import type { ConfigurationDocument } from "../../fields/configuration-schema.ts";
import type { Problems } from "../read/problems.ts";

const EMBEDDED: StateOptions = { type: "embedded" };

/** Builds the options of the state. Problems never show the address, because it may contain a password. */
export function buildState({ type, url }: ConfigurationDocument["state"], problems: Problems): StateOptions {
  if (type === "embedded") {
    if (url !== undefined) problems.add(["state", "url"], "only `type: postgres` has an address");
    return EMBEDDED;
  }
  if (url === undefined) {
    problems.add(["state"], "`type: postgres` needs url, the address of the database");
    return EMBEDDED;
  }
  const target = parsePostgresUrl(url, machineDisk);
  if (target.ok) return { type: "postgres", target: target.value };
  problems.add(["state", "url"], target.error);
  return EMBEDDED;
}
