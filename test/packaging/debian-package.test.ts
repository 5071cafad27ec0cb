import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type Machine, startMachine, whyNoMachine } from "./machine.ts";
import { node24, ROOT, run } from "./packed.ts";

const reason = whyNoMachine();
if (reason !== undefined) console.warn(`SKIPPED: test/packaging/debian-package.test.ts ${reason}`);

const directory = mkdtempSync(join(tmpdir(), "nuthatch-debian-"));
const packages = join(directory, "packages");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Makes a package with Node as `/usr/bin/node`: Debian 12 itself has an older one. */
function makeNode(): void {
  const stage = join(directory, "node");
  mkdirSync(join(stage, "usr/bin"), { recursive: true });
  mkdirSync(join(stage, "DEBIAN"));
  const node = node24() ?? process.execPath;
  const version = run(node, ["--version"]).trim().slice(1);
  copyFileSync(node, join(stage, "usr/bin/node"));
  chmodSync(join(stage, "usr/bin/node"), 0o755);
  const fields = [
    "Package: nodejs",
    `Version: ${version}-1test`,
    "Architecture: amd64",
    "Maintainer: test <test@test.invalid>",
  ];
  writeFileSync(join(stage, "DEBIAN/control"), `${fields.join("\n")}\nDescription: Node of this test\n`);
  run("dpkg-deb", ["-Znone", "--build", stage, join(packages, "nodejs.deb")]);
}

/** Makes the package of a later version, with the same content. */
function makeLater(archive: string): void {
  const stage = join(directory, "later");
  run("dpkg-deb", ["--raw-extract", archive, stage]);
  const control = join(stage, "DEBIAN/control");
  writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, "Version: 99.0.0"));
  run("dpkg-deb", ["--root-owner-group", "-Znone", "--build", stage, join(packages, "later.deb")]);
}

describe.skipIf(reason !== undefined)(
  `the Debian package${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    let machine: Machine;
    let archive: string;
    beforeAll(async () => {
      mkdirSync(packages);
      archive =
        process.env["NUTHATCH_DEB"] ??
        run(process.execPath, [join(ROOT, "packaging/debian/build.mjs"), "--out", directory]).trim();
      copyFileSync(archive, join(packages, "nuthatch.deb"));
      makeNode();
      makeLater(archive);
      machine = await startMachine(packages, join(directory, "machine"));
    }, 900_000);
    afterAll(async () => {
      await machine?.[Symbol.asyncDispose]();
    });

    const show = (property: string): string =>
      machine.sh(`systemctl show --value --property=${property} nuthatch`).trim();
    /** Returns true when another process than `before` serves. One look: a server that was just killed is active without a process. */
    const replaced = (before: string): true | undefined => {
      const shown = machine.sh("systemctl show --property=ActiveState,MainPID nuthatch");
      const id = /^MainPID=(\d+)$/m.exec(shown)?.[1] ?? "0";
      return shown.includes("ActiveState=active") && id !== "0" && id !== before ? true : undefined;
    };
    /** Sends a request to the server inside the machine. */
    const ask = (path: string): string =>
      machine.sh(
        `node -e 'fetch("http://127.0.0.1:8080${path}").then(async (a) => console.log(a.status, a.headers.get("content-type"), a.headers.get("geowebcache-cache-result"), (await a.text()).slice(0, 200)))'`,
      );

    // The steps of one installation, in their order.
    test("is installed, started, reloaded, restarted, watched, upgraded, removed and purged", async () => {
      machine.sh("apt-get install --yes /packages/nodejs.deb /packages/nuthatch.deb");
      // Waits for the start that the installation has begun.
      machine.sh("systemctl start nuthatch || { journalctl --no-pager --unit nuthatch >&2; false; }");
      expect([show("ActiveState"), show("UnitFileState"), show("NRestarts")]).toEqual(["active", "enabled", "0"]);
      expect(show("StatusText")).toBe("listening at http://127.0.0.1:8080/");
      const journal = (): string => machine.sh("journalctl --no-pager --output=cat --unit nuthatch");
      const first = ask("/xyz/topp:states/2/0/1.png");
      expect(first, journal()).toMatch(/^200 image\/png MISS/);
      expect(machine.sh("stat -c '%U %a' /var/lib/nuthatch /etc/nuthatch/nuthatch.yaml")).toBe(
        "nuthatch 700\nnuthatch 640\n",
      );
      expect(machine.sh(`stat -c %U /proc/${show("MainPID")}`).trim()).toBe("nuthatch");
      expect(machine.sh("nuthatch --version").trim()).toMatch(/^\d+\.\d+\.\d+/);

      // The exposure as systemd judges it, on a scale from 0 to 10.
      const judged = machine.sh("systemd-analyze security --no-pager nuthatch.service || true");
      expect(Number(/exposure level for nuthatch.service: ([\d.]+)/.exec(judged)?.[1])).toBeLessThan(2.5);

      machine.sh(
        `printf 'layers:\\n  - { name: more, source: { type: demo, dataset: world } }\\n' > /etc/nuthatch/conf.d/more.yaml; systemctl reload nuthatch`,
      );
      await until("the reload is done", async () => (ask("/xyz/more/0/0/0.png").startsWith("200") ? true : undefined));

      const before = show("MainPID");
      machine.sh(`kill -9 ${before}`);
      await until("the server runs again", async () => replaced(before));
      expect(ask("/xyz/topp:states/2/0/1.png")).toMatch(/^200 image\/png HIT/);

      // A server whose event loop is blocked is ended and started again.
      machine.sh(
        "mkdir -p /etc/systemd/system/nuthatch.service.d; printf '[Service]\\nWatchdogSec=3\\n' > /etc/systemd/system/nuthatch.service.d/watchdog.conf; systemctl daemon-reload; systemctl restart nuthatch",
      );
      const watched = show("MainPID");
      machine.sh(`kill -STOP ${watched}`);
      await until("the watchdog has started another server", async () => replaced(watched));

      machine.sh("echo '# changed' >> /etc/nuthatch/nuthatch.yaml; apt-get install --yes /packages/later.deb");
      expect(machine.sh(`dpkg-query --show --showformat='\${Version}' nuthatch`)).toBe("99.0.0");
      expect(machine.sh("tail -n 1 /etc/nuthatch/nuthatch.yaml")).toBe("# changed\n");
      expect(show("ActiveState")).toBe("active");
      expect(ask("/xyz/topp:states/2/0/1.png")).toMatch(/^200 image\/png HIT/);

      machine.sh("apt-get remove --yes nuthatch");
      expect(
        machine.sh(
          "systemctl is-active nuthatch || true; ls /etc/nuthatch/nuthatch.yaml; test -d /var/lib/nuthatch/tiles",
        ),
      ).toBe("inactive\n/etc/nuthatch/nuthatch.yaml\n");
      machine.sh("rm /etc/nuthatch/conf.d/more.yaml; apt-get purge --yes nuthatch");
      expect(
        machine
          .sh(
            "ls -d /etc/nuthatch /var/lib/nuthatch /usr/lib/nuthatch /etc/default/nuthatch 2>&1 | grep -vc 'No such file' || true",
          )
          .trim(),
      ).toBe("0");
    }, 600_000);
  },
);
