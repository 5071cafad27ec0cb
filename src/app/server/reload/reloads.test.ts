import { expect, test } from "vitest";
import type { Configuration } from "../../../configuration/configuration.ts";
import type { CheckedLayer } from "../../../configuration/layer-update.ts";
import { loadConfiguration } from "../../../configuration/load.ts";
import type { ConfigurationProblem } from "../../../configuration/problem.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { configurationChanges, mergeReloaded } from "./reloads.ts";

type Loaded = Result<Configuration, readonly ConfigurationProblem[]>;

async function configurationWith(...warnings: string[]): Promise<Configuration> {
  const loaded = await loadConfiguration({ env: {}, flags: {}, cwd: "/" });
  if (!loaded.ok) throw new Error("the demo configuration is not valid");
  return { ...loaded.value, warnings };
}

/** A server whose configuration has no objects, and whose changes have no effect. */
const IDLE = {
  objects: () => [],
  readsObjects: false,
  changeLayer: async () => undefined,
  warnings: () => [],
  overruled: async () => [],
  applyLayer: async () => undefined,
  tagOf: () => null,
  effectOf: () => ({ layers: [], moved: [], relocated: [] }),
  prepare: async () => ok(null),
  store: async () => ok(null),
  truncateRemoved: async () => undefined,
} as const;

/** Reloads that wait with reading their files until the test resolves them. */
function heldReloads() {
  const events: string[] = [];
  const reading: ((loaded: Loaded) => void)[] = [];
  const applying: (() => void)[] = [];
  const log = (level: string) => (sentence: string) => void events.push(`${level} ${sentence}`);
  const { reload } = configurationChanges({
    ...IDLE,
    load: () =>
      new Promise((resolve) => {
        events.push("load");
        reading.push(resolve);
      }),
    apply: ({ warnings }) =>
      new Promise((resolve) => {
        events.push(`apply ${warnings.join()}`);
        applying.push(() => resolve(["dataDir"]));
      }),
    log: { info: log("info"), warn: log("warn"), error: log("error") },
  });
  return { events, reading, applying, reload };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a reload reads its file only when the one before it is in force", async () => {
  const { events, reading, applying, reload } = heldReloads();
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
  const { events, reading, applying, reload } = heldReloads();
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

test("stores change at the next start: until then layers keep their stores, and a new one has the first of the present", async () => {
  const demo = await configurationWith();
  const [layer] = demo.layers;
  if (layer === undefined) throw new Error("there are no demo layers");
  const store = (id: string) => ({ id, type: "compact" as const, path: `/${id}` });
  const current = {
    ...demo,
    stores: [store("one"), store("two")],
    layers: [
      { ...layer, name: "a" },
      { ...layer, name: "b", store: "two" },
    ],
  };
  const next = {
    ...demo,
    stores: [store("three"), store("two")],
    layers: [
      { ...layer, name: "a", store: "two" },
      { ...layer, name: "b" },
      { ...layer, name: "c", store: "three" },
      { ...layer, name: "d", store: "two" },
    ],
  };
  const { merged, ignored } = mergeReloaded(next, current);
  expect(ignored).toEqual(["stores"]);
  expect(merged.stores).toEqual(current.stores);
  expect(merged.layers.map((one) => one.store)).toEqual([undefined, "two", undefined, "two"]);
  const moved = mergeReloaded({ ...next, stores: current.stores }, current).merged;
  expect(moved.layers.map((one) => one.store)).toEqual(["two", undefined, "three", "two"]);
});

test("the tiles of a removed layer are truncated before the next change begins, and what replaces the configuration waits its turn", async () => {
  const events: string[] = [];
  const configuration = await configurationWith();
  const truncating: (() => void)[] = [];
  const changes = configurationChanges({
    ...IDLE,
    async load({ changed }) {
      events.push(`load ${changed?.name}`);
      return ok(configuration);
    },
    apply: async () => {
      events.push("apply");
      return [];
    },
    truncateRemoved: (layer) =>
      new Promise((resolve) => {
        events.push(`truncate ${layer}`);
        truncating.push(resolve);
      }),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const document = { root: "wmsLayer", node: { kind: "map", attributes: {}, fields: [] } } as const;
  const removed = changes.changeObject({ kind: "layer", name: "a", document: undefined }, null);
  const made = changes.changeObject({ kind: "layer", name: "a", document }, null);
  const replaced = changes.replace(async () => void events.push("replace"));
  await turn();
  expect(events).toEqual(["load a", "apply", "truncate a"]);
  truncating[0]?.();
  expect((await removed).ok && (await made).ok).toBe(true);
  await replaced;
  expect(events).toEqual(["load a", "apply", "truncate a", "load a", "apply", "replace"]);
});

test("a change that is recorded and cannot be completed is answered as made, and one that is not recorded as not made", async () => {
  const loaded = await configurationWith();
  const fault = new Error("the disk is full");
  const logged: string[] = [];
  const changesWith = (more: Partial<Parameters<typeof configurationChanges>[0]>) =>
    configurationChanges({
      ...IDLE,
      load: async () => ok(loaded),
      apply: () => Promise.reject(fault),
      changeLayer: async () => ok({ update: { name: "a", made: undefined }, warnings: [] }),
      applyLayer: () => Promise.reject(fault),
      log: { info: () => {}, warn: () => {}, error: (sentence) => void logged.push(sentence) },
      ...more,
    });
  const change = { kind: "layer", name: "a", document: undefined } as const;
  const made = {
    code: "unavailable",
    message: expect.stringMatching(/^The change is recorded and in force, but .*full/),
  };
  expect(await changesWith({}).changeObject(change, null)).toMatchObject({ ok: false, error: made });
  expect(await changesWith({ changeLayer: async () => undefined }).changeObject(change, null)).toMatchObject({
    ok: false,
    error: made,
  });
  const reloaded = { message: expect.stringMatching(/^The configuration has been reloaded, but .*full/) };
  expect(await changesWith({}).reload()).toMatchObject({ ok: false, error: reloaded });
  expect(logged).toHaveLength(3);
  const notStored = changesWith({ store: () => Promise.reject(fault) });
  await expect(notStored.changeObject(change, null)).rejects.toThrow(fault);
});

test("a change of a grid set or of a layer logs the warnings that it adds", async () => {
  const warned: string[] = [];
  const loaded = await configurationWith("known", "new");
  const changesWith = (checked: CheckedLayer | undefined) =>
    configurationChanges({
      ...IDLE,
      load: async () => ok(loaded),
      apply: async () => [],
      changeLayer: async () => (checked === undefined ? undefined : ok(checked)),
      warnings: () => ["known"],
      log: { info: () => {}, warn: (sentence) => void warned.push(sentence), error: () => {} },
    });
  const document = { root: "own", node: { kind: "map", attributes: {}, fields: [] } } as const;
  await changesWith(undefined).changeObject({ kind: "gridSet", name: "g", document }, null);
  expect(warned).toEqual(["new"]);
  const update = { name: "a", made: undefined };
  const ofLayer = changesWith({ update, warnings: ["of the layer"] });
  await ofLayer.previewObject({ kind: "layer", name: "a", document });
  await ofLayer.changeObject({ kind: "layer", name: "a", document }, null);
  expect(warned).toEqual(["new", "of the layer"]);
});
