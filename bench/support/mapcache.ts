import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "./figures.ts";
import { freePort, installed, type Peer } from "./peers.ts";
import { filesBelow, runTool, type ToolRun } from "./tools.ts";

/** A seeded cache of a tool. */
export interface SeededCache extends ToolRun {
  readonly tiles: number;
  readonly bytes: number;
}

/** MapCache (Debian: mapcache-tools, libapache2-mod-mapcache) with its disk cache in a separate directory. */
export class MapCache {
  readonly #directory = mkdtempSync(join(tmpdir(), "nuthatch-bench-"));
  readonly #file = join(this.#directory, "mapcache.xml");

  constructor(upstream: string, compression: "fast" | "best" | "default", metatile: number) {
    // Without a format MapCache stores the upstream's own bytes, as Nuthatch does with single tiles.
    const format = metatile > 1 ? "<format>png</format>" : "";
    const level = compression === "default" ? "" : `<compression>${compression}</compression>`;
    writeFileSync(
      this.#file,
      `<mapcache>
  <source name="up" type="wms"><getmap><params><FORMAT>image/png</FORMAT><LAYERS>roads</LAYERS></params></getmap><http><url>${upstream}</url></http></source>
  <cache name="disk" type="disk"><base>${this.#directory}/cache</base></cache>
  <format name="png" type="PNG">${level}</format>
  <tileset name="roads"><source>up</source><cache>disk</cache>${format}<grid>GoogleMapsCompatible</grid><metatile>${metatile} ${metatile}</metatile></tileset>
  <service type="wmts" enabled="true"/>
  <service type="tms" enabled="true"/>
  <lock_dir>${this.#directory}</lock_dir>
  <errors>report</errors>
</mapcache>
`,
    );
  }

  /** Seeds every tile from zoom 0 on with two threads. */
  async seed(zoomStop: number): Promise<SeededCache> {
    const zooms = `0,${zoomStop}`;
    const args = ["-q", "-f", "-c", this.#file, "-t", "roads", "-g", "GoogleMapsCompatible", "-n", "2", "-z", zooms];
    const run = await runTool("mapcache_seed", args);
    const { files, bytes } = filesBelow(join(this.#directory, "cache"), ".png");
    return { ...run, tiles: files, bytes };
  }

  /**
   * Starts Apache (event MPM) with MapCache's module. Returns undefined if Apache is not installed. A tile's path is
   * `/tms/1.0.0/roads@GoogleMapsCompatible/z/x/y.png`.
   */
  async serve(): Promise<Peer | undefined> {
    const program = installed("apache2");
    if (program === undefined) return undefined;
    const port = await freePort();
    const modules = "/usr/lib/apache2/modules";
    const file = join(this.#directory, "apache.conf");
    writeFileSync(
      file,
      `ServerRoot ${this.#directory}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${this.#directory}/apache.pid
ErrorLog ${this.#directory}/error.log
LogLevel error
LoadModule mpm_event_module ${modules}/mod_mpm_event.so
LoadModule authz_core_module ${modules}/mod_authz_core.so
LoadModule mapcache_module ${modules}/mod_mapcache.so
StartServers 1
ThreadsPerChild 64
MaxRequestWorkers 64
ServerLimit 1
MaxKeepAliveRequests 0
KeepAlive On
MapCacheAlias / ${this.#file}
`,
    );
    const child = spawn(program, ["-f", file, "-D", "FOREGROUND"], { stdio: "inherit" });
    const url = `http://127.0.0.1:${port}/tms/1.0.0/roads@GoogleMapsCompatible/0/0/0.png`;
    for (let tries = 0; (await fetch(url).catch(() => undefined))?.status !== 200; tries++) {
      if (tries > 100) throw new Error(`MapCache does not answer ${url}`);
      await pause(50);
    }
    return { port, pid: child.pid ?? 0, close: () => void child.kill() };
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
