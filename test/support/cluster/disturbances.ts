import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Cut, type CutProxy, descendantsOf, type Owner } from "../network/cut-proxy.ts";
import { send } from "../server/processes.ts";
import type { TestServer } from "../server/server.ts";
import { nodesOf } from "./cluster.ts";
import { linkTo, ofLead, ofNode, type ProxiedCluster } from "./proxied-cluster.ts";

/** A cluster, and the choices of a test. */
export interface DisturbedPlace extends ProxiedCluster {
  /** Returns a number from 0 to below `n`. */
  readonly below: (n: number) => number;
}

type Disturbance = (place: DisturbedPlace, node: string, ms: number) => Promise<string>;

const nodeIn = ({ nodes }: DisturbedPlace, name: string): TestServer =>
  nodes.get(name) ?? expect.fail(`node ${name} runs`);

/** Returns the name of the leading node; the name of the queried node if it does not know the lead. */
async function leadOf(place: DisturbedPlace, asked: string): Promise<string> {
  const found = await nodesOf(nodeIn(place, asked)).catch(() => []);
  return found.find(({ lead }) => lead)?.name ?? asked;
}

async function restarted(place: DisturbedPlace, name: string, signal: NodeJS.Signals, pauseMs: number): Promise<void> {
  const link = linkTo(place, name);
  const ending = nodeIn(place, name).kill(signal);
  // The kernel closes the port of a process that has ended.
  if (signal === "SIGKILL") link.down();
  await ending;
  link.down();
  await sleep(pauseMs);
  await link.up();
  place.nodes.set(name, await place.cluster.start(name));
}

async function stopped(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) send(pid, "SIGSTOP");
  await sleep(ms);
  for (const pid of pids) send(pid, "SIGCONT");
}

async function cutFor(
  { below }: DisturbedPlace,
  proxies: readonly CutProxy[],
  isCut: (owner: Owner | undefined) => boolean,
  ms: number,
): Promise<Cut> {
  const how: Cut = below(2) === 0 ? "refuse" : "silence";
  for (const proxy of proxies) proxy.cut(how, isCut);
  await sleep(ms);
  for (const proxy of proxies) proxy.mend();
  return how;
}

const all = (): boolean => true;
/** Each disturbs one thing, and mends it. */
const DISTURBANCES: readonly Disturbance[] = [
  async (place, name) => {
    await restarted(place, name, "SIGKILL", place.below(1_500));
    return `kill of ${name}`;
  },
  async (place, name) => {
    const lead = await leadOf(place, name);
    await restarted(place, lead, "SIGKILL", place.below(1_500));
    return `kill of ${lead}, which led`;
  },
  async (place, name) => {
    await restarted(place, name, "SIGTERM", 0);
    return `end of ${name} in order`;
  },
  async (place, name, ms) => {
    await stopped([nodeIn(place, name).pid], ms);
    return `stop of ${name} for ${ms} ms`;
  },
  async (place, name, ms) => {
    // Now and then beyond its lease. Its renderers are stopped too, or alone.
    const lead = await leadOf(place, name);
    const all = descendantsOf(nodeIn(place, lead).pid);
    await stopped(place.below(3) === 0 ? all.slice(1) : all, ms * 3);
    return `stop of the lead on ${lead} for ${ms * 3} ms`;
  },
  async (place, name, ms) => {
    const lead = await leadOf(place, name);
    const how = await cutFor(place, [linkTo(place, lead)], ofNode(name), ms);
    return `${name} cut off from the lead ${lead} (${how}) for ${ms} ms`;
  },
  async (place, name, ms) => {
    const how = await cutFor(place, [place.database], ofNode(name), ms);
    return `${name} cut off from the database (${how}) for ${ms} ms`;
  },
  async (place, name, ms) => {
    const how = await cutFor(place, [place.bucket], ofNode(name), ms);
    return `${name} cut off from the bucket (${how}) for ${ms} ms`;
  },
  async (place, name, ms) => {
    const lead = await leadOf(place, name);
    const how = await cutFor(place, [place.database], ofLead(lead), ms * 3);
    return `the lead ${lead} cut off from the database (${how}) for ${ms * 3} ms`;
  },
  async (place, name, ms) => {
    const lead = await leadOf(place, name);
    const how = await cutFor(place, [place.bucket], ofLead(lead), ms);
    return `the lead ${lead} cut off from the bucket (${how}) for ${ms} ms`;
  },
  async (place, name, ms) => {
    // A partition: the node and its lead reach only themselves, and no other process reaches them.
    const isOf = (owner: Owner | undefined): boolean => owner?.node === name;
    const others = [...place.links].map(([, link]) => link).filter((link) => link !== linkTo(place, name));
    linkTo(place, name).cut("silence", (owner) => !isOf(owner));
    const how = await cutFor(place, [...others, place.database, place.bucket], isOf, ms * 3);
    linkTo(place, name).mend();
    return `${name} cut off from everything (${how}) for ${ms * 3} ms`;
  },
  async (place, name, ms) => {
    // The port refuses as after an end, but the lead lives.
    const lead = await leadOf(place, name);
    linkTo(place, lead).down();
    await sleep(ms);
    await linkTo(place, lead).up();
    return `the port of the lead ${lead} refused for ${ms} ms`;
  },
  async (place) => {
    const mode = place.below(2) === 0 ? "immediate" : "fast";
    place.postgres.stop(mode);
    await sleep(place.below(2_000));
    place.postgres.start();
    return `restart of PostgreSQL (${mode})`;
  },
  async (place, _, ms) => {
    const how = await cutFor(place, [place.database], all, ms);
    return `nobody reached the database (${how}) for ${ms} ms`;
  },
  async (place) => {
    await place.service.kill();
    await sleep(place.below(2_000));
    await place.service.start();
    return "restart of the S3 service";
  },
];

/** The number of kinds of disturbances. */
export const KINDS = DISTURBANCES.length;

/** Disturbs one part, and restores it. Returns the name of the disturbance. */
export function disturb(place: DisturbedPlace, kind: number): Promise<string> {
  const names = [...place.nodes.keys()];
  const name = names[place.below(names.length)] ?? expect.fail("there are nodes");
  const disturbance = DISTURBANCES[kind % KINDS] ?? expect.fail("there is a disturbance");
  return disturbance(place, name, 200 + place.below(2_300));
}
