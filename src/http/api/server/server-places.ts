import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../../../lib/time/sleep.ts";
import { placeOf as bucketPlaceOf } from "../../../store/remote-kinds.ts";
import { directoryOf, isRemote } from "../../../store/store-options.ts";
import type { RouteOptions } from "../../resource.ts";
import type { Documents } from "../documents/documents.ts";

type Place = Documents["Server"]["places"][number];

/** The free space counts as unknown if the file system does not answer within this time. */
const LONGEST_WAIT_MS = 2_000;
const UNKNOWN = { bytes: null, freeBytes: null, totalBytes: null };

/**
 * Returns the locations of the server's data, with the free space of each directory. Requests share one call to each
 * file system, so a hanging file system occupies one thread and delays a request by at most two seconds.
 */
export class ServerPlaces {
  readonly #parts: Pick<RouteOptions, "configured" | "clock">;
  #looking: Promise<readonly Place[]> | undefined;

  constructor(parts: Pick<RouteOptions, "configured" | "clock">) {
    this.#parts = parts;
  }

  async list(): Promise<readonly Place[]> {
    const { configured, clock } = this.#parts;
    const { file, dataDir, state, stores } = configured();
    const unknown = (kind: Place["kind"], path: string): Place => ({ kind, path, ...UNKNOWN });
    const configuration = file === undefined ? [] : [unknown("configuration", file)];
    const stateFile = join(dataDir, "state.db");
    const remoteState = state.type === "postgres" ? `postgres://${state.target.name}` : undefined;
    const tiles = stores.flatMap((one) => directoryOf(one) ?? []);
    const remote = stores.flatMap((one) =>
      isRemote(one) ? [unknown("tiles", `${bucketPlaceOf(one).url}/${one.prefix}`)] : [],
    );
    this.#looking ??= Promise.all([
      remoteState === undefined ? statePlace(stateFile) : unknown("state", remoteState),
      ...tiles.map((path) => placeOf("tiles", path)),
    ]).finally(() => {
      this.#looking = undefined;
    });
    const late = [unknown("state", remoteState ?? stateFile), ...tiles.map((path) => unknown("tiles", path))];
    const over = new AbortController();
    try {
      // Rejects only when the race is over.
      const waited = pause(clock, LONGEST_WAIT_MS, over.signal).then(() => late);
      return [...configuration, ...(await Promise.race([this.#looking, waited])), ...remote];
    } finally {
      over.abort();
    }
  }
}

/** Returns the location of the state database, with the size of the database and of its log. */
async function statePlace(file: string): Promise<Place> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return { ...(await placeOf("state", file)), bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function placeOf(kind: Place["kind"], path: string): Promise<Place> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { kind, path, bytes: null, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    // The directory may have been removed. `/readyz` reports the reason.
    return { kind, path, ...UNKNOWN };
  }
}
