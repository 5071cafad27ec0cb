import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { silentLog } from "../../../../test/support/silent-log.ts";
import { Channel } from "../../../lib/process/channel.ts";
import type { Message } from "../../../lib/process/message.ts";
import type { RendererHost } from "../../server/renderers/renderer-host.ts";
import { ownLinkVersion } from "../link/link-version.ts";
import { NODE, type NodeMethods } from "../link/node-methods.ts";
import { CheckedStores } from "./checked-stores.ts";
import { drainMember } from "./drain-member.ts";
import type { Member } from "./member.ts";
import { NodeRenderers } from "./node-renderers.ts";

/** Returns a node that has only the method `drain`. Messages arrive in the same turn. */
function connectedTo(node: Partial<NodeMethods>): NodeMethods {
  const listeners: [lead: (message: Message) => void, node: (message: Message) => void] = [() => {}, () => {}];
  const port = (own: 0 | 1, other: 0 | 1) => ({
    postMessage: (message: Message) => listeners[other](message),
    on: (_: "message", listener: (message: Message) => void) => {
      listeners[own] = listener;
    },
  });
  new Channel(port(1, 0), node, {});
  return new Channel(port(0, 1), {}, NODE).remote;
}

/** Makes nodes that have joined. `applies` delays or fails a node's application of the drain. */
function membersOf(names: readonly string[], applies = async (_node: string): Promise<void> => {}) {
  const hosts = new Set<RendererHost>();
  const told: string[] = [];
  const members = new Set<Member>();
  const absent: string[] = [];
  const join = (name: string): void => {
    const renderers = new NodeRenderers({ name, renderers: 2 }, connectedTo({}), () => ({ ids: [], made: [] }));
    hosts.add(renderers);
    const methods = connectedTo({
      drain: async (drained) => {
        told.push(`${name} drain ${drained}`);
        await applies(name);
      },
    });
    const hello = { ...ownLinkVersion(), instance: name, name, stores: new Map(), isDraining: false, renderers: 2 };
    const known = { sinceMs: 0, lastHeardMs: 0, checked: new CheckedStores() };
    const socket: Pick<Socket, "destroy"> = { destroy: () => expect.fail("not called") };
    members.add({
      hello,
      methods,
      socket,
      renderers,
      isDraining: false,
      isLeaving: false,
      ...known,
    });
  };
  for (const name of names) join(name);
  const parts = {
    members,
    hosts: {
      add: (host: RendererHost) => void hosts.add(host),
      remove: async (host: RendererHost) => void hosts.delete(host),
    },
    isOwn: () => false,
    /** The absent nodes join one by one. */
    anotherJoins: async () => {
      const next = absent.shift();
      if (next !== undefined) join(next);
      return next !== undefined;
    },
    log: silentLog,
  };
  /** Returns the name of the drained node, or the refusal. */
  const drain = async (name: string, drained: boolean): Promise<string> => {
    const found = await drainMember(parts, name, drained);
    return typeof found === "string" ? found : `changed ${found.hello.name}`;
  };
  const rendering = () => [...hosts].map(({ node }) => node);
  const at = (name: string): Member =>
    [...members].find(({ hello }) => hello.name === name) ?? expect.fail("there is the node");
  return { drain, rendering, told, absent, at };
}

test("a drained node gets no renders until it is taken back, and the last one is not drained", async () => {
  const { drain, rendering, told } = membersOf(["a", "b"]);
  expect(await drain("a", true)).toBe("changed a");
  expect(rendering()).toEqual(["b"]);
  expect(await drain("b", true)).toBe("last");
  expect(await drain("a", false)).toBe("changed a");
  expect(rendering()).toEqual(["b", "a"]);
  expect(told).toEqual(["a drain true", "a drain false"]);
  expect(await drain("c", true)).toBe("unknown");
});

test("a node that ends cannot be taken back, whether it was drained before or not, and is no other node", async () => {
  const { drain, rendering, told, at } = membersOf(["a", "b", "c"]);
  await drain("a", true);
  at("a").isLeaving = true;
  at("b").isLeaving = true;
  expect([await drain("a", false), await drain("b", false)]).toEqual(["leaving", "leaving"]);
  expect([await drain("a", true), await drain("b", true)]).toEqual(["changed a", "changed b"]);
  expect(await drain("c", true)).toBe("last");
  expect(rendering()).toEqual(["b", "c"]);
  expect(told).toEqual(["a drain true"]);
});

test("a drain is answered when the node has applied it, and a second one too", async () => {
  let apply = (): void => {};
  const applied = new Promise<void>((resolve) => {
    apply = resolve;
  });
  const { drain, told } = membersOf(["a", "b"], () => applied);
  const answered: string[] = [];
  const both = ["first", "second"].map(async (which) => {
    await drain("a", true);
    answered.push(which);
  });
  // A request for another node is answered while the first one waits.
  expect(await drain("c", false)).toBe("unknown");
  expect(told).toEqual(["a drain true", "a drain true"]);
  expect(answered).toEqual([]);
  apply();
  await Promise.all(both);
  expect(answered).toEqual(["first", "second"]);
});

test("a drain fails if the node is lost before it has answered", async () => {
  const lost = Object.assign(new Error("the node has gone"), { code: "unavailable" });
  const { drain } = membersOf(["a", "b"], () => Promise.reject(lost));
  await expect(drain("a", true)).rejects.toMatchObject({ code: "unavailable" });
});

test("a node that joins meanwhile is the one that is named, and one that is not drained", async () => {
  const { drain, absent } = membersOf(["a"]);
  absent.push("b", "c");
  expect(await drain("a", true)).toBe("changed a");
  expect(absent).toEqual(["c"]);
  expect(await drain("c", true)).toBe("changed c");
  expect([await drain("d", true), await drain("b", true)]).toEqual(["unknown", "last"]);
});
