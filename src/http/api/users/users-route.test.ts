import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { ok } from "../../../lib/result.ts";
import type { Exchange } from "../../resource.ts";
import { addUser } from "./users-route.ts";

test("many passwords at once do not hold up the reading of files", async () => {
  let added = 0;
  const operations = {
    addUser: async () => {
      added++;
      return ok(null);
    },
  };
  const body = Buffer.from(JSON.stringify({ name: "a", password: "long enough", roles: ["viewer"] }));
  const exchange: Pick<Exchange, "caller" | "body"> = {
    caller: { kind: "local" },
    body: async (decode) => decode(body),
  };
  const answers = Array.from({ length: 16 }, () => addUser(operations, exchange));
  await new Promise(setImmediate);
  // libuv runs hashes and file reads in the same threads, in the order of the requests.
  await stat(".");
  expect(added).toBeLessThan(4);
  await Promise.all(answers);
  expect(added).toBe(16);
});
