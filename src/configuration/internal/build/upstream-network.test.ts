import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { AUTHORITY, CLIENT_CERTIFICATE, SERVER_CERTIFICATE } from "../../../../test/support/network/certificates.ts";
import type { Configuration } from "../../configuration.ts";
import { configurationDocument } from "../../configuration-document.ts";
import { loadConfiguration } from "../../load.ts";
import { problemText } from "../../problem.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-config-tls-"));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const ca = file("ca.pem", AUTHORITY);
const cert = file("cert.pem", CLIENT_CERTIFICATE.cert);
const key = file("key.pem", CLIENT_CERTIFICATE.key);
const other = file("other.key", SERVER_CERTIFICATE.key);
const empty = file("empty.pem", "nothing\n");
function loading(yaml: string) {
  writeFileSync(join(directory, "nuthatch.yaml"), yaml);
  return loadConfiguration({ env: {}, flags: { config: "nuthatch.yaml" }, cwd: directory });
}
async function loaded(yaml: string): Promise<Configuration> {
  const result = await loading(yaml);
  if (!result.ok) throw new Error(result.error.map(problemText).join("\n"));
  return result.value;
}
/** Returns the messages of the problems without file and position. */
async function sentences(yaml: string): Promise<string[]> {
  const result = await loading(yaml);
  return result.ok ? [] : result.error.map((problem) => problemText(problem).replace(/^nuthatch.yaml:[\d:]+ /, ""));
}

const source = (more: string, url = "https://u/") =>
  `layers: [{ name: a, source: { type: wms, url: "${url}", ${more} } }]`;

test("a proxy is shown without its credentials", async () => {
  const configuration = await loaded(source('proxy: "http://me:hunter2@proxy:3128"'));
  expect(configuration.layers[0]?.source).toMatchObject({ proxy: "http://me:hunter2@proxy:3128" });
  const shown = JSON.stringify(configurationDocument(configuration));
  expect(shown).toContain('"proxy":"http://***@proxy:3128"');
  expect((await loaded(source("proxy: none"))).layers[0]?.source).toMatchObject({ proxy: "none" });
});

test("files for TLS have absolute paths, and a stamp that changes with them", async () => {
  const yaml = source(`ca: ${ca}, cert: ${cert}, key: ${key}`);
  const stampOf = async () => {
    const options = (await loaded(yaml)).layers[0]?.source;
    expect(options).toMatchObject({ tls: { ca, cert, key } });
    return JSON.stringify(options);
  };
  const before = await stampOf();
  expect(await stampOf()).toBe(before);
  file("ca.pem", AUTHORITY + SERVER_CERTIFICATE.cert);
  expect(await stampOf()).not.toBe(before);
  const shown = JSON.stringify(configurationDocument(await loaded(yaml)));
  expect(shown).toContain(`"ca":"${ca}","cert":"${cert}","key":"${key}"`);
  expect(shown).not.toContain("stamp");
});

test.each([
  ['proxy: "proxy:3128"', 'proxy: expected none, or the address of a proxy with http:// or https://, got "proxy:3128"'],
  [`cert: ${cert}`, "cert: cert and key are needed together"],
  [`key: ${key}`, "key: cert and key are needed together"],
  [`ca: ${directory}/none.pem`, `ca: "${directory}/none.pem" cannot be read: there is no such file or directory`],
  [`ca: ${empty}`, "ca: expected a file of certificates in PEM form"],
  [`cert: ${empty}, key: ${key}`, "cert: expected a file with a certificate in PEM form"],
  [`cert: ${cert}, key: ${other}`, "key: expected the key of the certificate in cert"],
  [`cert: ${cert}, key: ${empty}`, "key: expected a private key in PEM form, not encrypted"],
])("%s is wrong", async (more, expected) => {
  expect(await sentences(source(more))).toEqual([`layers[0].source.${expected}`]);
});

test("files for TLS are refused where no address uses it", async () => {
  expect(await sentences(source(`ca: ${ca}`, "http://u/"))).toEqual([
    "layers[0].source: ca, cert and key are for addresses with https://",
  ]);
});
