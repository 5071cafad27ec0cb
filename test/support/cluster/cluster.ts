import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schemaOf, sharedPostgres } from "../postgres/postgres.ts";
import { removed } from "../removed.ts";
import { startServer, type TestServer } from "../server/server.ts";
import { smallTiles, wmsConfiguration } from "../server/wms-configuration.ts";

/** The row of `/api/v1/nodes`. */
export interface NodeRow {
  readonly name: string;
  readonly lead: boolean;
  readonly state: string;
  readonly since: string;
  readonly lag: number;
  readonly work: { readonly tiles: number; readonly renders: number; readonly metatiles: number };
}

export interface ClusterOptions {
  /** The address of the upstream. */
  readonly upstream: string;
  readonly layers?: Parameters<typeof smallTiles>[1];
  /** Returns the address of the database for a node; absent: a new schema of the shared server. */
  readonly state?: (node: string) => string;
  /** The stores in YAML; a directory that all nodes see. */
  readonly stores?: string;
  /** Further keys of `cluster:`, in YAML. */
  readonly keys?: string;
  /** Further sections, in YAML. */
  readonly more?: string;
  /** The side of a tile in pixels; 64. */
  readonly tileSide?: 64 | 256;
  /** Returns where a node listens and which address it advertises; absent: a free port. */
  readonly link?: (node: string) => { readonly listen: number; readonly advertise: number };
}

/** Nodes on one database and one store. Leases are short. */
export interface TestCluster {
  /** The directory of the store, if no other directory was given. */
  readonly tiles: string;
  /** The variables of the state. */
  readonly state: Readonly<Record<string, string>>;
  /**
   * Starts a node; one of a name that was started before has its data directory.
   * @param program the path of another build of the program
   * @param under the command that runs the program
   */
  start(
    name: string,
    more?: string,
    keys?: string,
    env?: Readonly<Record<string, string>>,
    program?: string,
    under?: readonly string[],
  ): Promise<TestServer>;
  close(): Promise<void>;
}

export const LEASES = "nodeLeaseSeconds: 1, leadLeaseSeconds: 4";

export function newCluster(options: ClusterOptions): TestCluster {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-cluster-"));
  const tiles = join(directory, "tiles");
  const nodes = new Map<string, TestServer>();
  const shared = options.state === undefined ? newSchema() : "";
  const stores = options.stores ?? `[{ id: main, type: file, path: ${JSON.stringify(tiles)} }]`;
  return {
    tiles,
    state: { NUTHATCH_STATE_TYPE: "postgres", NUTHATCH_STATE_URL: shared },
    async start(
      name,
      more = options.more ?? "",
      keys = options.keys ?? LEASES,
      env = {},
      program?: string,
      under?: readonly string[],
    ) {
      const link = options.link?.(name);
      const listen = `listen: "127.0.0.1:${link?.listen ?? 0}"`;
      const advertised = link === undefined ? "" : `, advertise: "127.0.0.1:${link.advertise}"`;
      const cluster = `cluster: { node: ${name}, ${listen}${advertised}, ${keys.includes("secret:") ? "" : "secret: a-secret-of-the-test, "}${keys} }`;
      const sections = `\nstate: { type: postgres, url: ${JSON.stringify(options.state?.(name) ?? shared)} }\nstores: ${stores}\n${cluster}\n${more}`;
      const configured = options.tileSide === 256 ? wmsConfiguration : smallTiles;
      const configuration = configured(options.upstream, options.layers, sections);
      const dataDir = nodes.get(name)?.dataDir;
      const node = await startServer({
        configuration,
        env,
        ...(dataDir === undefined ? {} : { dataDir }),
        ...(program === undefined ? {} : { program }),
        ...(under === undefined ? {} : { under }),
      });
      nodes.set(name, node);
      return node;
    },
    async close() {
      await Promise.all([...nodes.values()].map((node) => node.close()));
      await removed(directory);
    },
  };
}

function newSchema(): string {
  const postgres = sharedPostgres();
  const schema = schemaOf(randomUUID());
  postgres.sql(`CREATE SCHEMA ${schema}`);
  return `${postgres.url("postgres")}&options=-c%20search_path%3D${schema}`;
}

/** Returns the nodes that a node lists. @throws Error when it lists no nodes, as without a lead */
export async function nodesOf(server: TestServer): Promise<readonly NodeRow[]> {
  const response = await fetch(`${server.url}/api/v1/nodes`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the nodes are not listed: ${response.status} ${text}`);
  const answer: { readonly nodes: readonly NodeRow[] } = JSON.parse(text);
  return answer.nodes;
}
