import { expect, test } from "vitest";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { Configuration } from "../configuration.ts";
import { loadConfiguration } from "../load.ts";
import type { ConfigurationProblem } from "../problem.ts";
import { ConfigurationInForce, type ConfiguredProcesses, type InForceParts } from "./in-force.ts";
import type { Checked, LayerUpdate } from "./layer-update.ts";

type Loaded = Result<Configuration, readonly ConfigurationProblem[]>;

async function configurationWith(...warnings: string[]): Promise<Configuration> {
  const loaded = await loadConfiguration({ env: {}, flags: {}, cwd: "/" });
  if (!loaded.ok) throw new Error("the demo configuration is not valid");
  return { ...loaded.value, warnings };
}

/** Processes that take each configuration at once. */
const PROCESSES: ConfiguredProcesses = {
  withMoves: (_, tell) => tell(),
  configure: async () => undefined,
  configureLayer: async () => undefined,
  configureServing: async () => undefined,
};

/** The parts of a server in which changes have no effect. */
const IDLE: Omit<InForceParts, "load"> = {
  processes: PROCESSES,
  changeLayer: async () => undefined,
  overruled: async () => [],
  prepare: async () => ok(null),
  prepareStored: async () => undefined,
  store: async () => ok(null),
  truncateRemoved: async () => undefined,
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
};

/** Reloads that wait with reading their files until the test resolves them. */
function heldReloads(initial: Configuration) {
  const events: string[] = [];
  const reading: ((loaded: Loaded) => void)[] = [];
  const applying: (() => void)[] = [];
  const log = (level: string) => (sentence: string) => void events.push(`${level} ${sentence}`);
  const inForce = new ConfigurationInForce(initial, {
    ...IDLE,
    load: () =>
      new Promise((resolve) => {
        events.push("load");
        reading.push(resolve);
      }),
    processes: {
      ...PROCESSES,
      configure: ({ warnings }) =>
        new Promise((resolve) => {
          events.push(`apply ${warnings.join()}`);
          applying.push(resolve);
        }),
    },
    log: { info: log("info"), warn: log("warn"), error: log("error") },
  });
  return { events, reading, applying, reload: () => inForce.reload() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a reload reads its file only when the one before it is in force", async () => {
  const initial = { ...(await configurationWith()), dataDir: "/before" };
  const { events, reading, applying, reload } = heldReloads(initial);
  const first = reload();
  const second = reload();
  await turn();
  expect(events).toEqual(["load"]);
  reading[0]?.(ok(await configurationWith("older")));
  await turn();
  expect(events).toEqual(["load", "apply older"]);
  applying[0]?.();
  expect(await first).toEqual(ok(["older", "dataDir changes at the next start"]));
  await turn();
  reading[1]?.(ok(await configurationWith("newer")));
  await turn();
  applying[1]?.();
  expect(await second).toEqual(ok(["newer", "dataDir changes at the next start"]));
  const one = (name: string) => [
    "load",
    `apply ${name}`,
    `warn ${name}`,
    "warn this change needs a restart",
    "info the configuration has been reloaded",
  ];
  expect(events).toEqual([...one("older"), ...one("newer")]);
});

test("a reload that is refused, or fails, is not in the way of the next one", async () => {
  const { events, reading, applying, reload } = heldReloads(await configurationWith());
  const answers = [reload(), reload(), reload()];
  await turn();
  const problem = { file: "a", line: 1, column: 1, path: "b", message: "c" };
  reading[0]?.(refuse([problem]));
  expect(await answers[0]).toMatchObject({ ok: false, error: { code: "bad_configuration", details: ["a:1:1: c"] } });
  await turn();
  const { proxy, revoke } = Proxy.revocable(await configurationWith(), {});
  revoke();
  reading[1]?.(ok(proxy));
  expect(await answers[1]).toMatchObject({ ok: false, error: { code: "unavailable" } });
  await turn();
  reading[2]?.(ok(await configurationWith()));
  await turn();
  applying[0]?.();
  expect(await answers[2]).toMatchObject({ ok: true });
  expect(events.filter((event) => event === "load")).toHaveLength(3);
});

test("the tiles of a removed layer are truncated before the next change begins, and what replaces the configuration waits its turn", async () => {
  const events: string[] = [];
  const configuration = await configurationWith();
  const truncating: (() => void)[] = [];
  const changes = new ConfigurationInForce(configuration, {
    ...IDLE,
    async load(_, { changed }) {
      events.push(`load ${changed?.name}`);
      return ok(configuration);
    },
    processes: { ...PROCESSES, configure: async () => void events.push("apply") },
    truncateRemoved: (layer) =>
      new Promise((resolve) => {
        events.push(`truncate ${layer}`);
        truncating.push(resolve);
      }),
  });
  const document = { root: "wmsLayer", node: { kind: "map", attributes: {}, fields: [] } } as const;
  const removed = changes.change({ kind: "layer", name: "a", document: undefined }, null);
  const made = changes.change({ kind: "layer", name: "a", document }, null);
  const replaced = changes.takeStored([]);
  await turn();
  expect(events).toEqual(["load a", "apply", "truncate a"]);
  truncating[0]?.();
  expect((await removed).ok && (await made).ok).toBe(true);
  await replaced;
  expect(events).toEqual(["load a", "apply", "truncate a", "load a", "apply", "load undefined"]);
});

test("a change that is recorded and cannot be completed is answered as made, and one that is not recorded as not made", async () => {
  const loaded = await configurationWith();
  const fault = new Error("the disk is full");
  const logged: string[] = [];
  const changesWith = (more: Partial<InForceParts>) =>
    new ConfigurationInForce(loaded, {
      ...IDLE,
      load: async () => ok(loaded),
      processes: {
        ...PROCESSES,
        configure: () => Promise.reject(fault),
        configureLayer: () => Promise.reject(fault),
      },
      changeLayer: async () => ok({ next: { name: "a", made: undefined }, warnings: [] }),
      log: { info: () => {}, warn: () => {}, error: (sentence) => void logged.push(sentence) },
      ...more,
    });
  const change = { kind: "layer", name: "a", document: undefined } as const;
  const made = {
    code: "unavailable",
    message: expect.stringMatching(/^The change is recorded and in force, but .*full/),
  };
  expect(await changesWith({}).change(change, null)).toMatchObject({ ok: false, error: made });
  expect(await changesWith({ changeLayer: async () => undefined }).change(change, null)).toMatchObject({
    ok: false,
    error: made,
  });
  const reloaded = { message: expect.stringMatching(/^The configuration has been reloaded, but .*full/) };
  expect(await changesWith({}).reload()).toMatchObject({ ok: false, error: reloaded });
  expect(logged).toHaveLength(3);
  const notStored = changesWith({ store: () => Promise.reject(fault) });
  await expect(notStored.change(change, null)).rejects.toThrow(fault);
});

test("a change of a grid set or of a layer logs the warnings that it adds", async () => {
  const warned: string[] = [];
  const loaded = await configurationWith("known", "new");
  const initial = await configurationWith("known");
  const changesWith = (checked: Checked<LayerUpdate> | undefined) =>
    new ConfigurationInForce(initial, {
      ...IDLE,
      load: async () => ok(loaded),
      changeLayer: async () => (checked === undefined ? undefined : ok(checked)),
      log: { info: () => {}, warn: (sentence) => void warned.push(sentence), error: () => {} },
    });
  const document = { root: "own", node: { kind: "map", attributes: {}, fields: [] } } as const;
  await changesWith(undefined).change({ kind: "gridSet", name: "g", document }, null);
  expect(warned).toEqual(["new"]);
  const next = { name: "a", made: undefined };
  const ofLayer = changesWith({ next, warnings: ["of the layer"] });
  await ofLayer.preview({ kind: "layer", name: "a", document });
  await ofLayer.change({ kind: "layer", name: "a", document }, null);
  expect(warned).toEqual(["new", "of the layer"]);
});
