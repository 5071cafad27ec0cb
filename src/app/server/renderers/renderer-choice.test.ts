import { expect, test } from "vitest";
import { chooseRenderer } from "./renderer-choice.ts";
import type { RendererHost } from "./renderer-host.ts";

const hostOf = (node: string): RendererHost => ({
  node,
  most: 2,
  start: () => {
    throw new Error("not called");
  },
  configureStores: () => undefined,
});
const [a, b] = [hostOf("a"), hostOf("b")];
const of = (host: RendererHost, ...renders: readonly number[]) =>
  renders.map((n) => ({ host, renders: n, isNew: false }));
const choose = (renderers: ReturnType<typeof of>, near?: string, hosts = [a, b]) => {
  const choice = chooseRenderer(hosts, renderers, ({ most }) => most, near);
  if (choice === undefined) return undefined;
  return "start" in choice
    ? `start at ${choice.start.node}`
    : `${choice.renderer.host.node} ${choice.renderer.renders}`;
};

test("a renderer without work comes first, then a new one, then the one with the least work", () => {
  expect(choose([])).toBe("start at a");
  expect(choose([...of(a, 1), ...of(b, 0)])).toBe("b 0");
  expect(choose([...of(a, 1), ...of(b, 1, 1)])).toBe("start at a");
  expect(choose([...of(a, 3, 2), ...of(b, 4, 1)])).toBe("b 1");
});

test("a new renderer gets some work before another one is started beside it", () => {
  const onlyOne = (renders: number) => choose([{ host: a, renders, isNew: true }], undefined, [a]);
  expect([0, 1, 3, 4].map(onlyOne)).toEqual(["a 0", "a 1", "a 3", "start at a"]);
  expect(choose([{ host: a, renders: 1, isNew: true }])).toBe("start at b");
});

test("among equals the node of the user comes first, then the machine with the smallest part at work", () => {
  expect(choose([], "b")).toBe("start at b");
  expect(choose([...of(a, 0), ...of(b, 0)], "b")).toBe("b 0");
  expect(choose([...of(a, 0, 1), ...of(b, 0)])).toBe("b 0");
  expect(choose([...of(a, 1), ...of(b)])).toBe("start at b");
  expect(choose([...of(a, 1, 1), ...of(b, 2, 2)], "b")).toBe("a 1");
});

test("the renderers of a machine that has left are not chosen", () => {
  expect(choose(of(b, 0), "b", [a])).toBe("start at a");
  expect(choose([], undefined, [])).toBeUndefined();
});
