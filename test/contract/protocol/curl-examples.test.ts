import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";

/*
 * The recipes of GWC's documentation as a shell sees them (ecosystem.md 3.2, C01 to C10), against a fresh start with the
 * demo layers. Nothing in a command is changed: curl's own configuration file leads localhost:8080 to the test's port.
 */
let server: TestServer;
let home: string;
beforeAll(async () => {
  server = await startServer();
  home = mkdtempSync(join(tmpdir(), "nuthatch-curl-"));
  // The progress meter of a slow answer would be on the line of its status.
  const curlrc = `connect-to = "localhost:8080:127.0.0.1:${server.port}"\nmax-time = 20\nno-progress-meter\n`;
  writeFileSync(join(home, ".curlrc"), curlrc);
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

interface Reported {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

/** Runs a command with `curl -v` in bash and reads the answer's status and type from curl's output. */
function shell(command: string): Promise<Reported> {
  const env: Record<string, string> = { PATH: process.env["PATH"] ?? "", CURL_HOME: home, HOME: home };
  return new Promise((resolve, reject) => {
    execFile("bash", ["-c", command], { env }, (error, stdout, stderr) => {
      const status = [...stderr.matchAll(/^< HTTP\/1\.1 (\d{3})/gm)].at(-1)?.[1];
      if (error !== null || status === undefined) reject(new Error(`${command}\n${stderr}\n${server.log()}`));
      else resolve({ status: Number(status), type: /^< content-type: (.+?)\r?$/im.exec(stderr)?.[1], body: stdout });
    });
  });
}

const recipe = (sentence: string, command: string, expected: Partial<Reported> & { readonly says?: RegExp }): void =>
  test(sentence, async () => {
    const { says, ...exact } = expected;
    const answer = await shell(command);
    expect(answer, command).toMatchObject(exact);
    if (says !== undefined) expect(answer.body, command).toMatch(says);
  });

recipe(
  "C01: a truncate as XML",
  `curl -v -u geoserver:secured -XPOST -H "Content-type: text/xml" -d '<seedRequest><name>nurc:Arc_Sample</name><srs><number>4326</number></srs><zoomStart>1</zoomStart><zoomStop>12</zoomStop><format>image/png</format><type>truncate</type><threadCount>2</threadCount></seedRequest>'  "http://localhost:8080/geowebcache/rest/seed/nurc:Arc_Sample.xml"`,
  { status: 200, type: "text/plain", body: "" },
);
recipe(
  "C02: a truncate as JSON in single quotes, with a brace too many and another layer's name",
  `curl -v -u geoserver:secured -XPOST -H "Content-type: application/json" -d "{'seedRequest':{'name':'topp:states','bounds':{'coords':{ 'double':['-124.0','22.0','66.0','72.0']}},'srs':{'number':4326},'zoomStart':1,'zoomStop':12,'format':'image\\/png','type':'truncate','threadCount':4}}}"  "http://localhost:8080/geowebcache/rest/seed/nurc:Arc_Sample.json"`,
  { status: 200, type: "text/plain", body: "" },
);
recipe(
  "C03: a whole document with comments, bounds and a parameter filter",
  `cat > "$HOME/seed.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<seedRequest>
  <name>topp:states</name>
  <bounds>
    <coords>
      <double>-2495667.977678598</double>
      <double>-2223677.196231552</double>
      <double>3291070.6104286816</double>
      <double>959189.3312465074</double>
    </coords>
  </bounds>
  <!-- These are listed on http://localhost:8080/geowebcache/demo -->
  <gridSetId>EPSG:2163</gridSetId>
  <zoomStart>0</zoomStart>
  <zoomStop>2</zoomStop>
  <format>image/png</format>
  <!-- type can be * seed * reseed * truncate -->
  <type>truncate</type>
  <threadCount>1</threadCount>
  <parameters>
    <entry>
      <string>CQL_FILTER</string>
      <string>TOTPOP > 10000</string>
    </entry>
  </parameters>
</seedRequest>
XML
curl -v -u geoserver:secured -XPOST -H "Content-type: text/xml" -d @"$HOME/seed.xml" "http://localhost:8080/geowebcache/rest/seed/topp:states.xml"`,
  { status: 200, type: "text/plain", body: "" },
);
for (const path of ["seed.json", "seed/topp:states.json"])
  recipe(
    `C04: the list at ${path}`,
    `curl -v -u geoserver:secured -XGET http://localhost:8080/geowebcache/rest/${path}`,
    { status: 200, type: "application/json", says: /^\{"long-array-array":\[.*\]\}$/ },
  );
for (const path of ["seed", "seed/topp:states"])
  recipe(
    `C05: kill_all at ${path}`,
    `curl -v -u geoserver:secured -d "kill_all=all"  "http://localhost:8080/geowebcache/rest/${path}"`,
    { status: 200, type: "text/html; charset=utf-8", says: /^<!DOCTYPE html>/ },
  );
recipe(
  "C06: the list of mass truncations, with a Content-type on the GET",
  `curl -v -u geoserver:secured -XGET -H "Content-type: text/xml" "http://localhost:8080/geowebcache/rest/masstruncate"`,
  {
    status: 200,
    type: "application/xml",
    says: /^<massTruncateRequests href="http:\/\/localhost:8080\/geowebcache\/rest\/masstruncate"><requestType>truncateLayer<\/requestType>/,
  },
);
recipe(
  "C07: truncateLayer",
  `curl -v -u geoserver:secured -XPOST -H "Content-type: text/xml" -d "<truncateLayer><layerName>topp:states</layerName></truncateLayer>"  "http://localhost:8080/geowebcache/rest/masstruncate"`,
  { status: 200, body: "" },
);
recipe(
  "C08: maxConcurrentCleanUps -1, labelled as curl does",
  `curl -v -u admin:geoserver "http://localhost:8080/geowebcache/rest/diskquota.xml" -X PUT -d "<gwcQuotaConfiguration><maxConcurrentCleanUps>-1</maxConcurrentCleanUps></gwcQuotaConfiguration>"`,
  { status: 400, type: "text/plain", body: "maxConcurrentCleanUps shall be a positive integer: -1" },
);
recipe(
  "C09: unknown units; the shell eats the inner quotes",
  `curl -v -u admin:geoserver "http://localhost:8080/geowebcache/rest/diskquota.json" -X PUT -d "{"gwcQuotaConfiguration":{"globalQuota":{"value":100,"units":"ZZiB"}}}"`,
  { status: 400, type: "text/plain", says: /^No enum constant StorageUnit\.ZZiB\n.+/ },
);
recipe(
  "C09: the same with MiB changes the quota",
  `curl -v -u admin:geoserver "http://localhost:8080/geowebcache/rest/diskquota.json" -X PUT -d "{"gwcQuotaConfiguration":{"globalQuota":{"value":100,"units":"MiB"},"globalExpirationPolicyName":"LRU"}}"`,
  {
    status: 200,
    type: "application/json",
    says: /^\{"gwcQuotaConfiguration":\{.*"globalExpirationPolicyName":"LRU","globalQuota":\{"value":"100","units":"MiB"\},"layerQuotas":\[\]\}\}$/,
  },
);
recipe(
  "C09: the example that lacks its last brace is 400",
  `curl -v -u admin:geoserver "http://localhost:8080/geowebcache/rest/diskquota.json" -X PUT -d "{"gwcQuotaConfiguration":{"globalQuota":{"value":100,"units":"MiB"}}"`,
  { status: 400, type: "text/plain", says: /line 1/ },
);
recipe(
  "C10: enabled and 100 GiB",
  `curl -v -u admin:geoserver "http://localhost:8080/geowebcache/rest/diskquota.xml" -X PUT -d "<gwcQuotaConfiguration><enabled>true</enabled><globalQuota><value>100</value><units>GiB</units></globalQuota></gwcQuotaConfiguration>"`,
  {
    status: 200,
    type: "text/xml",
    says: /^<gwcQuotaConfiguration><enabled>true<\/enabled>.*<globalQuota><value>100<\/value><units>GiB<\/units><\/globalQuota><layerQuotas\/><\/gwcQuotaConfiguration>$/,
  },
);
