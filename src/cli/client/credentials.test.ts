import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../../test/support/server/run-program.ts";
import { startServer, type TestServer } from "../../../test/support/server/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "s3cret" } });
});
afterAll(() => server.close());

const run = clientOf(() => server.url);
const status = (env: Readonly<Record<string, string>>, ...args: string[]) => run(["status", ...args], env);

test("the password is that of the environment, and a wrong or missing one is reported without it", async () => {
  expect(await status({ NUTHATCH_PASSWORD: "s3cret" })).toMatchObject({ code: 0, stderr: "" });
  expect((await status({ NUTHATCH_PASSWORD: "s3cret" }, "--user", "admin")).code).toBe(0);
  const wrong = await status({ NUTHATCH_PASSWORD: "no" });
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining("(sent as admin, with the password of NUTHATCH_PASSWORD)"),
  ]);
  const none = await status({});
  expect([none.code, none.stderr]).toEqual([
    1,
    expect.stringMatching(/401 .* \(the request had no password: set NUTHATCH_PASSWORD\)/),
  ]);
});

test("a user without a password and an address with one are wrong usage", async () => {
  expect(await status({ NUTHATCH_USER: "ann" })).toEqual({
    code: 2,
    stdout: "",
    stderr: "nuthatch: the password of ann is expected in NUTHATCH_PASSWORD\n",
  });
  const inAddress = await status({}, "--url", server.url.replace("//", "//admin:s3cret@"));
  expect([inAddress.code, inAddress.stderr]).toEqual([2, expect.not.stringContaining("s3cret")]);
});
