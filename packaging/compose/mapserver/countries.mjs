// Writes the countries of world-atlas as GeoJSON, cut at longitude 180: the atlas has borders that cross it.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { geoEquirectangular } from "d3-geo";
import { geoProject } from "d3-geo-projection";
import { feature } from "topojson-client";

const file = createRequire(import.meta.url).resolve("world-atlas/countries-50m.json");
const topology = JSON.parse(readFileSync(file, "utf8"));
const degrees = geoEquirectangular()
  .scale(180 / Math.PI)
  .translate([0, 0])
  .reflectY(true)
  .precision(0);
const countries = geoProject(feature(topology, topology.objects.countries), degrees);
writeFileSync("countries.json", JSON.stringify({ ...countries, name: "countries" }));
