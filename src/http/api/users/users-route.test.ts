import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { ok } from "../../../lib/result.ts";
import type { Exchange } from "../../resource.ts";
import { addingHandler } from "./users-route.ts";

test("many passwords at once do not hold up the reading of files", async () => {
  let added = 0;
  const operations = {
    addUser: async () => {
      added++;
      return ok(null);
    },
  };
  const post = addingHandler(operations);
  const body = Buffer.from(JSON.stringify({ name: "a", password: "long enough", roles: ["viewer"] }));
  const exchange: Exchange = {
    target: { mount: "", path: "/api/v1/users", query: "" },
    headers: {},
    query: new URLSearchParams(),
    origin: "http://h",
    base: "http://h",
    catalogue: catalogueOf([]),
    caller: { kind: "local" },
    address: "127.0.0.1",
    by: null,
    signal: new AbortController().signal,
    isStillPermitted: () => true,
    body: async (decode) => decode(body),
  };
  const answers = Array.from({ length: 16 }, () => post.handle(exchange));
  await new Promise(setImmediate);
  // libuv runs hashes and file reads in the same threads, in the order of the requests.
  await stat(".");
  expect(added).toBeLessThan(4);
  await Promise.all(answers);
  expect(added).toBe(16);
});
