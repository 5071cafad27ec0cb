import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { silentLog } from "../../../test/support/silent-log.ts";
import type { RendererHost } from "../renderer-host.ts";
import { CheckedStores } from "./checked-stores.ts";
import { drainMember } from "./drain-member.ts";
import { LINK_VERSION, ownVersions } from "./link-version.ts";
import type { Member } from "./member.ts";
import { NodeRenderers } from "./node-renderers.ts";

function membersOf(...names: readonly string[]) {
  const hosts = new Set<RendererHost>();
  const notes: string[] = [];
  const members = new Set(
    names.map((name): Member => {
      const renderers = new NodeRenderers({ name, renderers: 2 }, { note: () => undefined }, () => ({
        ids: [],
        made: [],
      }));
      hosts.add(renderers);
      const channel = {
        call: () => Promise.reject(new Error("not called")),
        note: (method: string, args: readonly unknown[]) => void notes.push(`${name} ${method} ${args.join()}`),
      };
      const hello = { ...ownVersions(), instance: name, name, stores: new Map(), isDraining: false, renderers: 2 };
      const known = { sinceMs: 0, lastHeardMs: 0, checked: new CheckedStores() };
      const socket: Pick<Socket, "destroy"> = { destroy: () => expect.fail("not called") };
      return {
        hello,
        version: LINK_VERSION,
        channel,
        socket,
        renderers,
        isDraining: false,
        isLeaving: false,
        ...known,
      };
    }),
  );
  const parts = {
    members,
    hosts: {
      add: (host: RendererHost) => void hosts.add(host),
      remove: async (host: RendererHost) => void hosts.delete(host),
    },
    isOwn: () => false,
    log: silentLog,
  };
  const drain = (name: string, drained: boolean) => drainMember(parts, name, drained);
  const rendering = () => [...hosts].map(({ node }) => node);
  return { drain, rendering, notes, at: (name: string) => [...members].find(({ hello }) => hello.name === name) };
}

test("a drained node gets no renders until it is taken back, and the last one is not drained", () => {
  const { drain, rendering, notes } = membersOf("a", "b");
  expect(drain("a", true)).toBe("done");
  expect(rendering()).toEqual(["b"]);
  expect(drain("b", true)).toBe("last");
  expect(drain("a", false)).toBe("done");
  expect(rendering()).toEqual(["b", "a"]);
  expect(notes).toEqual(["a drain true", "a drain false"]);
  expect(drain("c", true)).toBe("unknown");
});

test("a node that ends cannot be taken back, whether it was drained before or not, and is no other node", () => {
  const { drain, rendering, notes, at } = membersOf("a", "b", "c");
  const [a, b] = [at("a"), at("b")];
  if (a === undefined || b === undefined) expect.fail("there are nodes");
  drain("a", true);
  a.isLeaving = true;
  b.isLeaving = true;
  expect([drain("a", false), drain("b", false)]).toEqual(["leaving", "leaving"]);
  expect([drain("a", true), drain("b", true)]).toEqual(["done", "done"]);
  expect(drain("c", true)).toBe("last");
  expect(rendering()).toEqual(["b", "c"]);
  expect(notes).toEqual(["a drain true"]);
});
