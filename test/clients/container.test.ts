import { execFile } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skippedOnNodes } from "../support/cluster/balanced.ts";
import {
  CONTAINER_USER,
  NEIGHBOUR_ADDRESS,
  type Neighbour,
  SERVER_ADDRESS,
  startNeighbour,
  whyNoContainers,
} from "../support/network/container.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { until } from "../support/until.ts";
import { hasNginx, runNginx } from "./nginx.ts";

/*
 * Isolation as by a container engine, without an engine: the server has a separate network, account and read-only root file system, and one volume. nginx and the clients are in another container.
 */
const reason = hasNginx ? whyNoContainers() : "needs Debian's nginx";
if (reason !== undefined) console.warn(`SKIPPED: test/clients/container.test.ts: ${reason}`);

const NAME = "maps.example.org";
const PASSWORD = "correct horse battery";
const CONFIGURATION = `
server: { host: 0.0.0.0, port: 8080, trustProxy: ["${NEIGHBOUR_ADDRESS}"] }
layers: [{ name: "ws:roads", source: { type: demo, dataset: states } }]
`;

describe.skipIf(reason !== undefined || skippedOnNodes("the network and the volume are those of one server"))(
  `a container's network${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    const volume = mkdtempSync(join(tmpdir(), "nuthatch-container-"));
    const base = `https://${NAME}/tiles`;
    let neighbour: Neighbour;
    let server: TestServer;
    let closeNginx = async (): Promise<void> => undefined;

    interface Answered {
      readonly status: number;
      readonly headers: string;
      readonly body: string;
    }
    /** Sends a request from the other container, as curl sends it. */
    const send = (url: string, ...args: readonly string[]): Promise<Answered> =>
      new Promise((resolve, reject) => {
        const [program = "", ...inside] = neighbour.inside;
        const curl = [
          "curl",
          "-sk",
          "-i",
          "-w",
          "\\n%{http_code}",
          "--connect-to",
          `${NAME}:443:${NEIGHBOUR_ADDRESS}:443`,
        ];
        execFile(
          program,
          [...inside, ...curl, ...args, url],
          { encoding: "latin1", maxBuffer: 1e7 },
          (error, stdout) => {
            if (error !== null) return reject(error);
            const [, headers = "", body = "", status = ""] =
              /^([\s\S]*?)\r\n\r\n([\s\S]*)\n(\d{3})$/.exec(stdout) ?? [];
            resolve({ status: Number(status), headers, body });
          },
        );
      });
    const asAdmin = ["-u", `admin:${PASSWORD}`];

    beforeAll(async () => {
      chownSync(volume, CONTAINER_USER, CONTAINER_USER);
      neighbour = await startNeighbour();
      const connected = neighbour.connect();
      server = await startServer({
        configuration: CONFIGURATION,
        dataDir: volume,
        env: { NUTHATCH_ADMIN_PASSWORD: PASSWORD, NUTHATCH_HOST: "0.0.0.0", NUTHATCH_PORT: "8080" },
        under: neighbour.beside(volume),
      });
      await connected;
      closeNginx = await runNginx({
        server: `${SERVER_ADDRESS}:8080`,
        name: NAME,
        listen: `${NEIGHBOUR_ADDRESS}:443`,
        under: neighbour.inside,
        answers: () =>
          send(`${base}/livez`).then(
            () => true,
            () => false,
          ),
      });
    });
    afterAll(async () => {
      await closeNginx();
      await server.close();
      await neighbour.close();
      rmSync(volume, { recursive: true, force: true });
    });

    test("the server runs as an account without rights, on a read-only root, and writes to its volume alone", async () => {
      const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
      expect(status).toMatch(new RegExp(`^Uid:\\s+${CONTAINER_USER}\\s`, "m"));
      expect(status).toMatch(/^CapEff:\s+0+$/m);
      const mounts = readFileSync(`/proc/${server.pid}/mounts`, "utf8").split("\n");
      expect(mounts.filter((line) => line.split(" ")[1] === "/").at(-1)).toMatch(/^\S+ \S+ \S+ ro,/);
      expect((await send(`${base}/xyz/ws:roads/3/1/3.png`)).status).toBe(200);
      await until("the tile is stored", async () =>
        readdirSync(join(volume, "tiles")).includes("ws_roads") ? true : undefined,
      );
      expect(statSync(join(volume, "state.db")).uid).toBe(CONTAINER_USER);
      expect(server.log()).not.toMatch(/EROFS|EACCES|"level":"error"/);
    });

    test("tiles, probes and documents come through the proxy of the other container, with its name", async () => {
      for (const [path, body] of [
        ["livez", "ok"],
        ["readyz", "ok"],
      ])
        expect(await send(`${base}/${path}`)).toMatchObject({ status: 200, body });
      const tile = await send(`${base}/xyz/ws:roads/2/0/1.png`);
      expect([tile.status, tile.body.slice(1, 4)]).toEqual([200, "PNG"]);
      const { body } = await send(`${base}/tilejson/ws:roads`);
      expect(JSON.parse(body).tiles[0]).toMatch(new RegExp(`^${base}/xyz/`));
      expect((await send(`${base}/service/wmts?REQUEST=GetCapabilities`)).body).toContain(`"${base}/`);
    });

    test("an engine's probe reaches the server by its address, and by the name of the container", async () => {
      for (const host of [`${SERVER_ADDRESS}:8080`, "nuthatch:8080"])
        expect(await send(`http://${SERVER_ADDRESS}:8080/readyz`, "-H", `Host: ${host}`)).toMatchObject({
          status: 200,
        });
    });

    test("the management interface needs the account, and a browser's change the proxy's own origin", async () => {
      expect((await send(`${base}/api/v1/jobs`)).status).toBe(401);
      expect((await send(`${base}/api/v1/jobs`, ...asAdmin)).status).toBe(200);
      const seed = '{"seedRequest":{"gridSetId":"EPSG:900913","zoomStart":0,"zoomStop":1}}';
      const post = (origin: string) =>
        send(`${base}/rest/seed/ws:roads.json`, ...asAdmin, "-d", seed, "-H", `Origin: ${origin}`);
      const made = await post(`https://${NAME}`);
      expect(made.status).toBe(200);
      expect(made.headers).toMatch(new RegExp(`^link: <${base}/api/v1/jobs/\\d+>; rel="monitor"`, "im"));
      expect((await post("https://evil.example")).status).toBe(403);
    });

    test("a refused log-in has the address that the proxy saw", async () => {
      expect((await send(`${base}/api/v1/jobs`, "-u", "admin:guess", "-H", "X-Forwarded-For: 192.0.2.9")).status).toBe(
        401,
      );
      await until("the log has the refused log-in", async () =>
        server
          .log()
          .split("\n")
          .some((line) => line.includes('"a log-in was refused"') && line.includes(`"address":"${NEIGHBOUR_ADDRESS}"`))
          ? true
          : undefined,
      );
      expect(server.log()).not.toContain("192.0.2.9");
    });
  },
);
