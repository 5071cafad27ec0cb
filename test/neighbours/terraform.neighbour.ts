import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { startServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { startUpstream } from "../support/upstream/upstream.ts";
import { neighbour } from "./installed.ts";

/** The folder of a built `terraform-provider-geoserver`. No registry that tests may use has it. */
const DIRECTORY = process.env["NUTHATCH_TERRAFORM_PROVIDER"] ?? "";
const provider = {
  directory: DIRECTORY,
  missing: existsSync(DIRECTORY)
    ? undefined
    : "needs camptocamp's provider: set NUTHATCH_TERRAFORM_PROVIDER=DIRECTORY of the built program, and have terraform in PATH",
};

const resources = (url: string, store: string, upstream: string): string => `
terraform {
  required_providers {
    geoserver = { source = "camptocamp/geoserver" }
  }
}
provider "geoserver" {
  url = "${url}/geoserver/rest"
  gwc_url = "${url}/geoserver/gwc/rest"
  username = "admin"
  password = "geoserver"
}
resource "geoserver_gwc_file_blobstore" "files" {
  blobstore_id = "files"
  base_directory = "${store}"
  file_system_block_size = 4096
}
resource "geoserver_gwc_S3_blobstore" "bucket" {
  blobstore_id = "bucket"
  bucket = "tiles"
  bucket_access_key = "nuthatch"
  bucket_secret_key = "nuthatch-secret"
  endpoint = "http://127.0.0.1:9"
  enabled = false
  # The server shows keys as ***.
  lifecycle { ignore_changes = [bucket_access_key, bucket_secret_key] }
}
resource "geoserver_gwc_gridset" "swiss" {
  name = "swiss"
  description = "LV95"
  srs = 2056
  meters_per_unit = 1.0
  pixel_size = 0.00028
  tile_height = 256
  tile_width = 256
  extent_min_x = 2420000
  extent_min_y = 1030000
  extent_max_x = 2900000
  extent_max_y = 1350000
  scales {
    name = "swiss:0"
    denominator = 14285714.285714287
  }
  scales {
    name = "swiss:1"
    denominator = 7142857.142857144
  }
}
resource "geoserver_gwc_wms_layer" "roads" {
  name = "made"
  blobstore_id = geoserver_gwc_file_blobstore.files.blobstore_id
  # GeoWebCache shows an address without a question mark with one, too.
  wms_url = "${upstream}?"
  wms_layer = "roads"
  mime_formats = ["image/png", "image/jpeg"]
  grid_subset { name = "EPSG:900913" }
  metatile_height = 4
  metatile_width = 4
  expire_duration_clients = 3600
}
resource "geoserver_gwc_disk_quota" "quota" {
  enabled = true
  cache_cleanup_frequency = 10
  cache_cleanup_units = "SECONDS"
  maximum_concurrent_cleanup = 2
  global_expiration_policy_name = "LRU"
  global_quota_value = 20
  global_quota_units = "GiB"
  layer_quota {
    layer = "ws:roads"
    expiration_policy_name = "LFU"
    quota_value = 1
    quota_units = "GiB"
  }
}
`;
const IDS = {
  "geoserver_gwc_file_blobstore.files": "files",
  "geoserver_gwc_S3_blobstore.bucket": "bucket",
  "geoserver_gwc_gridset.swiss": "swiss",
  "geoserver_gwc_wms_layer.roads": "made",
  "geoserver_gwc_disk_quota.quota": "gwc_disk_quota_singleton",
};

neighbour("Terraform applies, plans, imports and destroys the five resources of a cache", [provider], async () => {
  const upstream = await startUpstream();
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-terraform-"));
  const more = `server: { mounts: ["/", "/geoserver/gwc"] }
config: { writable: true }
compat: { quotaRoot: gwcQuotaConfiguration }
users: [{ name: admin, password: geoserver, roles: [admin] }]
`;
  const server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "ws:roads" }], more) });
  onTestFinished(async () => {
    await server.close();
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const rc = join(directory, "terraformrc");
  writeFileSync(
    rc,
    `provider_installation {\n  dev_overrides {\n    "camptocamp/geoserver" = "${DIRECTORY}"\n  }\n  direct {}\n}\n`,
  );
  writeFileSync(join(directory, "main.tf"), resources(server.url, join(directory, "store"), upstream.url));
  const env = { ...process.env, TF_CLI_CONFIG_FILE: rc, CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" };
  const terraform = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("terraform", [...args, "-no-color"], { cwd: directory, env });
    return stdout;
  };
  expect(await terraform("apply", "-auto-approve")).toContain("5 added, 0 changed, 0 destroyed");
  expect(await terraform("plan")).toContain("No changes");
  expect((await fetch(`${server.url}/xyz/made/0/0/0.png`)).status).toBe(200);

  // What was made by hand, or by another state, is imported. The provider's import leaves the SRS of a grid set unread.
  rmSync(join(directory, "terraform.tfstate"));
  for (const [address, id] of Object.entries(IDS)) await terraform("import", address, id);
  const imported = await terraform("plan");
  expect(imported).toContain("Plan: 0 to add, 1 to change, 0 to destroy");
  expect(imported).toContain("+ srs                = 2056");
  await terraform("apply", "-auto-approve");
  expect(await terraform("plan")).toContain("No changes");

  expect(await terraform("destroy", "-auto-approve")).toContain("5 destroyed");
  const login = { headers: { Authorization: `Basic ${Buffer.from("admin:geoserver").toString("base64")}` } };
  for (const path of ["layers/made.xml", "gridsets/swiss.xml", "blobstores/files.xml", "blobstores/bucket.xml"])
    expect((await fetch(`${server.url}/rest/${path}`, login)).status).toBe(404);
});
