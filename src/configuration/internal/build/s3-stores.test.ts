import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { AUTHORITY } from "../../../../test/support/network/certificates.ts";
import { configurationDocument } from "../../configuration-document.ts";
import { loadConfiguration } from "../../load.ts";
import { problemText } from "../../problem.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-config-s3-"));
afterAll(() => rmSync(directory, { recursive: true }));
writeFileSync(join(directory, "ca.pem"), AUTHORITY);
writeFileSync(join(directory, "empty.pem"), "nothing\n");

function load(store: string) {
  writeFileSync(join(directory, "nuthatch.yaml"), `stores: [{ id: main, type: s3, bucket: tiles, ${store} }]\n`);
  return loadConfiguration({ env: {}, flags: { config: "nuthatch.yaml" }, cwd: directory });
}

async function problemsOf(store: string): Promise<readonly string[]> {
  const result = await load(store);
  return result.ok ? [] : result.error.map((problem) => problemText(problem).replace(/^nuthatch.yaml:[\d:]+ /, ""));
}

test("encryption, storage class and authorities of a store are read, and printed without the keys of the account", async () => {
  const result = await load(
    "endpoint: 'https://s3.example', ca: ca.pem, serverSideEncryption: 'aws:kms', kmsKeyId: k, storageClass: GLACIER_IR, accessKeyId: the-id, secretAccessKey: the-secret, sessionToken: the-token",
  );
  if (!result.ok) throw new Error(result.error.map(problemText).join("\n"));
  expect(result.value.stores).toMatchObject([
    {
      caFile: join(directory, "ca.pem"),
      serverSideEncryption: { algorithm: "aws:kms", kmsKeyId: "k" },
      storageClass: "GLACIER_IR",
      credentials: { accessKeyId: "the-id", secretAccessKey: "the-secret", sessionToken: "the-token" },
    },
  ]);
  const printed = JSON.stringify(configurationDocument(result.value));
  expect(printed).toContain(`"ca":"${join(directory, "ca.pem")}"`);
  expect(printed).toContain('"serverSideEncryption":"aws:kms","kmsKeyId":"k"');
  expect(printed).not.toMatch(/the-id|the-secret|the-token/);
});

test.each([
  ["kmsKeyId: k", "kmsKeyId: expected serverSideEncryption: aws:kms beside it"],
  ["kmsKeyId: k, serverSideEncryption: AES256", "kmsKeyId: expected serverSideEncryption: aws:kms beside it"],
  ["ca: empty.pem", "ca: expected a file of certificates in PEM form"],
  ["ca: none.pem", 'ca: "none.pem" cannot be read: there is no such file or directory'],
  [
    "ca: ca.pem, endpoint: 'http://127.0.0.1:9000'",
    'ca: expected an endpoint with https:// beside it, got "http://127.0.0.1:9000"',
  ],
])("%s is wrong", async (store, expected) => {
  expect(await problemsOf(store)).toEqual([`stores[0].${expected}`]);
});
