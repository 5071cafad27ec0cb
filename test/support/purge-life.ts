import { catalogueOf } from "../../src/layer/catalogue.ts";
import { PurgeOutbox } from "../../src/purge/purge-outbox.ts";
import type { PurgeMode, PurgeService } from "../../src/purge/purge-service.ts";
import { Purges } from "../../src/purge/purges.ts";
import type { Database } from "../../src/state/database.ts";
import { layerNamed } from "./layer.ts";
import { ManualClock } from "./manual-clock.ts";
import { evenRandom } from "./random.ts";

/** Returns a service of type `http` that takes three tags in a request and ten requests in a second. */
export const edgeService = (more: Partial<PurgeService> = {}): PurgeService => ({
  id: "edge",
  type: "http",
  method: "POST",
  url: "http://edge.test/token",
  headers: {},
  separator: " ",
  keysPerRequest: 3,
  ratePerSecond: 10,
  ...(more as object),
});

export const settled = async () => {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
};

interface LifeOptions {
  /** Returns the text of a failure, or undefined. */
  readonly answer?:
    | ((service: PurgeService, keys: readonly string[], mode: PurgeMode) => string | undefined | Promise<undefined>)
    | undefined;
  readonly services?: readonly PurgeService[] | undefined;
  readonly layers?: readonly string[] | undefined;
  readonly clock?: ManualClock;
}

/** Purges of one server to services that are a function. */
export function purgeLife(
  db: Database,
  {
    answer = () => undefined,
    services = [edgeService()],
    layers = ["a", "b"],
    clock = new ManualClock(1_000_000),
  }: LifeOptions = {},
) {
  const sent: { readonly to: string; readonly keys: readonly string[]; readonly mode: string; readonly ms: number }[] =
    [];
  const logged: string[] = [];
  const log = (sentence: string, fields?: object) => void logged.push(`${sentence} ${JSON.stringify(fields)}`);
  const purges = new Purges({
    outbox: new PurgeOutbox(db),
    services: () => services,
    catalogue: () => catalogueOf(layers.map((name) => layerNamed(name, {}))),
    post: {
      async send(service, keys, mode) {
        sent.push({ to: service.id, keys, mode, ms: clock.monotonicNow() });
        return answer(service, keys, mode);
      },
      async [Symbol.asyncDispose]() {},
    },
    isIncomplete: () => false,
    db,
    state: { fault: (error) => log(String(error)) },
    clock,
    random: evenRandom,
    log: { info: log, warn: log, error: log },
  });
  /** Lets time pass in steps. Returns after the requests that became due have been answered. */
  const pass = async (ms: number, stepMs = 50) => {
    for (let left = ms; left > 0; left -= stepMs) {
      clock.pass(Math.min(stepMs, left));
      purges.tick();
      await settled();
    }
  };
  const changed = (layer: string, mode: "hard" | "soft" = "hard") =>
    db.transaction(() => purges.layerChanged(layer, mode));
  return { purges, clock, sent, logged, pass, changed };
}
