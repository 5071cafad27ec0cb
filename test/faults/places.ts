import { basename, join } from "node:path";
import { builtInGridSet } from "../../src/grid/built-in.ts";
import { createCompactStore } from "../../src/store/compact/compact-store.ts";
import { hasPostgres } from "../support/postgres/postgres.ts";
import { type StateInPostgres, startStateInPostgres } from "../support/postgres/state-in-postgres.ts";
import { scanBucket } from "../support/s3/bucket-scan.ts";
import { NO_S3, startS3 } from "../support/s3/server.ts";
import type { ServerOptions } from "../support/server/server.ts";
import { inDirectory } from "../support/stores/in-directory.ts";
import { scanStore } from "../support/stores/store-scan.ts";

/** The tiles of a store. `bytesOnDisk` and `files` are those of a store of files. */
export interface Scan {
  readonly tiles: number;
  readonly bytes: number;
  readonly bytesOnDisk?: number;
  readonly files: readonly string[];
}

/** Where a server has its state and its tiles. */
export interface Place {
  /** Why no server can have them there on this machine. */
  readonly missing: string | undefined;
  /** Starts the service, once for all runs. Returns its port, whose requests count; undefined: there is none. */
  readonly start: () => Promise<number | undefined>;
  /** Returns the options of a server with a separate part of the service. `directory`: of the trial. */
  readonly options: (options: ServerOptions, directory: string) => ServerOptions;
  readonly scan: (directory: string) => Scan | Promise<Scan>;
}

const scanFiles = (directory: string): Scan => scanStore(join(directory, "data"));

/** SQLite and files, in the data directory. */
export const HERE: Place = {
  missing: undefined,
  start: async () => undefined,
  options: (options) => options,
  scan: scanFiles,
};

/** Keeps the first result. */
function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start();
    return started;
  };
}
const ends: (() => unknown)[] = [];
/** Ends the services that were started. */
export async function endServices(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

const withStores = ({ configuration = "", ...options }: ServerOptions, store: string): ServerOptions => ({
  ...options,
  configuration: `${configuration.trimEnd()}\nstores: [{ id: main, ${store} }]\n`,
});

const bundlesIn = (directory: string): string => join(directory, "bundles");
/** Bundles of 128 x 128 tiles. */
export const BUNDLES: Place = {
  ...HERE,
  options: (options, directory) => withStores(options, `type: compact, path: ${JSON.stringify(bundlesIn(directory))}`),
  async scan(directory) {
    const root = bundlesIn(directory);
    await using store = createCompactStore({ ...inDirectory(root), gridSets: builtInGridSet });
    const found = { tiles: 0, bytes: 0, files: [] };
    for (const layer of ["a", "b", "c"])
      for (const pyramid of store.pyramids(layer, ["EPSG:900913"]))
        for (const z of store.levels(pyramid))
          for await (const region of store.regions(pyramid, z, undefined))
            for (const [format, places] of region.tiles)
              for (const { x, y } of places) {
                found.tiles++;
                found.bytes += (await store.stat({ tileSet: { ...pyramid, format }, x, y, z }))?.bytes ?? 0;
              }
    return found;
  },
};

const postgres = once(async () => {
  const state = await startStateInPostgres();
  ends.push(() => state.close());
  return state;
});
let state: StateInPostgres | undefined;
/** The state in a database of PostgreSQL. */
export const POSTGRES: Place = {
  missing: hasPostgres ? undefined : "the Debian package postgresql is not installed",
  async start() {
    state = await postgres();
    return state.proxy.port;
  },
  options(options, directory) {
    const database = basename(directory).toLowerCase().replaceAll("-", "_");
    state?.postgres.sql(`CREATE DATABASE ${database}`);
    return { ...options, env: { ...options.env, ...state?.env(database) } };
  },
  scan: scanFiles,
};

const s3 = once(async () => {
  const server = await startS3("SeaweedFS");
  ends.push(() => server[Symbol.asyncDispose]());
  return server;
});
let endpoint = "";
/** Tiles under a prefix of a bucket. */
export const S3: Place = {
  missing: NO_S3,
  async start() {
    ({ endpoint } = await s3());
    return Number(new URL(endpoint).port);
  },
  options: (options, directory) =>
    withStores(
      options,
      `type: s3, endpoint: "${endpoint}", bucket: tiles, prefix: ${basename(directory)}, pathStyle: true, accessKeyId: nuthatch, secretAccessKey: nuthatch-secret`,
    ),
  async scan(directory) {
    const { tiles, bytes } = await scanBucket((await s3()).options(basename(directory)));
    return { tiles, bytes, files: [] };
  },
};
