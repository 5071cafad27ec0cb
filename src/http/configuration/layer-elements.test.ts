import { expect, test } from "vitest";
import { decodeDocument } from "../../configuration/gwc/codec/decode-document.ts";
import type { RootedDocument } from "../../configuration/gwc/document-node.ts";
import { layerFault } from "../../configuration/gwc/layer-fault.ts";
import { layerContent } from "../../configuration/gwc/layer-object.ts";
import { OBJECTS } from "../../configuration/gwc/object-kinds.ts";

function decoded(elements: string, form: "xml" | "json" = "xml"): RootedDocument {
  const body = form === "json" ? elements : `<wmsLayer><name>a</name>${elements}</wmsLayer>`;
  const read = decodeDocument(Buffer.from(body), form, {
    what: "a layer",
    roots: OBJECTS.layer.roots,
    present: undefined,
  });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

test("elements that describe a layer become keys of the configuration", () => {
  const content = layerContent(
    decoded(`<enabled>false</enabled><advertised>false</advertised>
      <metaInformation><title>T</title><description>D</description><keywords><string>x</string><string>y z</string></keywords></metaInformation>
      <metadataURLs><org.geowebcache.layer.meta.MetadataURL><type>FGDC</type><format>text/xml</format><url>http://m/1</url></org.geowebcache.layer.meta.MetadataURL></metadataURLs>
      <infoMimeFormats><string>text/plain</string></infoMimeFormats>`),
  );
  expect(content).toMatchObject({
    enabled: false,
    advertised: false,
    title: "T",
    description: "D",
    keywords: ["x", "y z"],
    metadataUrls: [{ type: "FGDC", format: "text/xml", url: "http://m/1" }],
    infoFormats: ["text/plain"],
  });
  expect(Object.keys(layerContent(decoded("<enabled>true</enabled>")))).not.toContain("enabled");
});

test("elements of the requests become keys of the source, and of the formats", () => {
  const content = layerContent(
    decoded(`<formatModifiers><formatModifier><responseFormat>image/jpeg</responseFormat><requestFormat>image/png</requestFormat><transparent>false</transparent><bgColor>0xFFFFFF</bgColor><palette>p</palette><compressionQuality>0.8</compressionQuality></formatModifier></formatModifiers>
      <wmsUrl><string>http://u/</string></wmsUrl><wmsQueryLayers>q,r</wmsQueryLayers><bgColor>0x00FF00</bgColor><palette>safe</palette><httpRequestMode>FormPost</httpRequestMode>`),
  );
  expect(content).toMatchObject({
    formatModifiers: [
      {
        format: "image/jpeg",
        requestFormat: "image/png",
        transparent: false,
        bgColor: "0xFFFFFF",
        palette: "p",
        jpegQuality: 80,
      },
    ],
    source: {
      queryLayers: ["q", "r"],
      bgColor: "0x00FF00",
      palette: "safe",
      method: "post",
      transparent: true,
      vendorParameters: {},
    },
  });
  expect(layerContent(decoded("<transparent>false</transparent>"))["source"]).toMatchObject({ transparent: false });
});

test("cached levels and GeoWebCache's codes of an expiry are taken over", () => {
  const content = layerContent(
    decoded(`<gridSubsets><gridSubset><gridSetName>EPSG:900913</gridSetName><minCachedLevel>3</minCachedLevel><maxCachedLevel>9</maxCachedLevel></gridSubset></gridSubsets>
      <expireCacheList><expirationRule minZoom="0" expiration="-2"/><expirationRule minZoom="4" expiration="-1"/><expirationRule minZoom="7" expiration="-4"/></expireCacheList>
      <expireClients>-4</expireClients>`),
  );
  expect(content).toMatchObject({
    gridSubsets: [{ gridSet: "EPSG:900913", minCachedLevel: 3, maxCachedLevel: 9 }],
    expireCacheSeconds: [
      { minZoom: 0, seconds: 0 },
      { minZoom: 4, seconds: -1 },
      { minZoom: 7, seconds: 7200 },
    ],
    expireClientSeconds: 7200,
  });
});

test("a legend of another server has its address, and completeUrl is taken as it is", () => {
  const { legends } = layerContent(
    decoded(`<parameterFilters><stringParameterFilter><key>STYLES</key><defaultValue>a</defaultValue>
      <values><string>b</string><string>c</string></values></stringParameterFilter></parameterFilters>
      <wmsLayers>roads</wmsLayers><legends defaultWidth="20" defaultHeight="30" defaultFormat="image/png">
      <legend style="a"><url>http://l/wms</url><width>7</width></legend><legend style="b"><completeUrl>http://l/b.png</completeUrl></legend><legend style="c"/></legends>`),
  );
  expect(legends).toEqual([
    {
      style: "a",
      width: 7,
      height: 30,
      format: "image/png",
      url: "http://l/wms?service=WMS&version=1.1.1&request=GetLegendGraphic&layer=roads&style=a&format=image%2Fpng&width=7&height=30",
    },
    { style: "b", width: 20, height: 30, format: "image/png", url: "http://l/b.png" },
    { style: "c", width: 20, height: 30, format: "image/png" },
  ]);
});

test("a path of the configuration becomes the path of the element", () => {
  expect(
    [
      "source.method",
      "source.bgColor",
      "source.queryLayers[0]",
      "keywords[1]",
      "metadataUrls[0].url",
      "formatModifiers[0].jpegQuality",
      "formatModifiers[1].format",
      "gridSubsets[0].minCachedLevel",
      "expireCacheSeconds[1].seconds",
    ].map(OBJECTS.layer.pathOf),
  ).toEqual([
    "httpRequestMode",
    "bgColor",
    "wmsQueryLayers[0]",
    "metaInformation.keywords[1]",
    "metadataURLs[0].url",
    "formatModifiers[0].compressionQuality",
    "formatModifiers[1].responseFormat",
    "gridSubsets[0].minCachedLevel",
    "expireCacheList[1].@expiration",
  ]);
});

const filtersOf = (filter: string): string => `<parameterFilters>${filter}</parameterFilters>`;

test.each([
  ['<legends defaultWidth="x"/>', 'legends.@defaultWidth: expected a whole number, got "x"'],
  ['<legends defaultHeight="1.5"/>', 'legends.@defaultHeight: expected a whole number, got "1.5"'],
  ["<hintsLevel/>", 'hintsLevel: expected SPEED or DEFAULT or QUALITY, got ""'],
  ["<mimeFormats><string>image/tiff</string></mimeFormats>", undefined],
  [
    "<mimeFormats><string>image/png</string><string>image/tiff</string></mimeFormats>",
    expect.stringMatching(/^mimeFormats\[1\]: expected one of .*, got "image\/tiff"$/),
  ],
  [
    filtersOf(
      "<floatParameterFilter><key>A</key><defaultValue>1</defaultValue><values><float>1.0</float></values></floatParameterFilter>",
    ),
    undefined,
  ],
  [
    filtersOf(
      "<floatParameterFilter><key>A</key><defaultValue>2</defaultValue><values><float>1.0</float></values></floatParameterFilter>",
    ),
    'parameterFilters[0].defaultValue: expected one of its values, got "2"',
  ],
])("GeoWebCache starts on the file with a layer that is taken: %s", (body, fault) => {
  expect(layerFault(decoded(body))).toEqual(fault);
});
