import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { configurationDocument } from "../../configuration-document.ts";
import { loadConfiguration } from "../../load.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-webhooks-"));
afterAll(() => rmSync(directory, { recursive: true }));

const load = (webhooks: string) => {
  writeFileSync(
    join(directory, "n.yaml"),
    `layers: [{ name: a, source: { type: wms, url: "http://u/" } }]\n${webhooks}`,
  );
  const env = { HOOK_SECRET: "s3cret", HOOK_TOKEN: "t0ken" };
  return loadConfiguration({ env, flags: { config: "n.yaml" }, cwd: directory });
};

test("a webhook's credentials are taken out of its address, ended means every end, and nothing secret is printed", async () => {
  const read = await load(`webhooks:
  - { url: "https://ops:pa%20ss@Hooks.example.org/in/\${HOOK_TOKEN}#x", secret: "\${HOOK_SECRET}" }
  - { url: "http://127.0.0.1:1/", events: [running, ended, done], layers: [a], secret: "\${HOOK_SECRET}" }
`);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const ends = ["done", "done_with_failures", "failed", "aborted"];
  const [first, second] = read.value.webhooks;
  expect(first).toMatchObject({
    url: "https://hooks.example.org/in/t0ken",
    events: ends,
    layers: null,
    secret: "s3cret",
  });
  expect(first?.authorization).toBe(`Basic ${Buffer.from("ops:pa ss").toString("base64")}`);
  expect(second).toMatchObject({ events: ["running", ...ends], layers: ["a"] });
  expect(second).not.toHaveProperty("authorization");
  expect(first?.id).not.toMatch(/t0ken/);
  const printed = JSON.stringify(configurationDocument(read.value));
  expect(printed).toContain('"url":"https://hooks.example.org/***"');
  expect(printed).not.toMatch(/s3cret|t0ken|pa ss|pa%20ss|ops/);
});

test("an error in a webhook's configuration is reported without its address", async () => {
  const wrong = await load(`webhooks:
  - { url: "ftp://h/t0ken", secret: "\${HOOK_SECRET}" }
  - { url: "https://h/t0ken", events: [finished], layers: [b], secret: "\${HOOK_SECRET}" }
  - { url: "https://h/2/t0ken", secret: "\${HOOK_SECRET}", layers: [b] }
  - { url: "https://h/2/t0ken", secret: "\${HOOK_SECRET}" }
  - "https://h/t0ken"
  - { url: "https://h/3" }
`);
  if (wrong.ok) throw new Error("it was taken");
  const messages = wrong.error.map(({ message }) => message);
  expect(messages).toEqual([
    "webhooks[0].url: expected an address with http:// or https://",
    'webhooks[1].events[0]: expected one of pending, running, paused, done, done_with_failures, failed, aborted, ended, got "finished"',
    'webhooks[2].layers[0]: unknown layer "b"; did you mean a?',
    "webhooks[3].url: the same address is given twice",
    "webhooks[4]: expected a map, got another value",
    "webhooks[5]: secret is missing",
  ]);
  expect(JSON.stringify(wrong.error)).not.toMatch(/t0ken|s3cret/);
});
