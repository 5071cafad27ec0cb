import * as z from "zod";
import { capabilitiesAddress, pictureAddress, wmsProposal } from "../../../configuration/wms/wms-proposal.ts";
import { pictureKind } from "../../../image/picture-kind.ts";
import { errorMessage } from "../../../lib/error-code.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { answerText } from "../../../lib/text/answer-text.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { createHttpFetch } from "../../../source/http/http-fetch.ts";
import { checkStatus, pictureOf, type UpstreamAnswer } from "../../../source/http/image-response.ts";
import { SourceError } from "../../../source/source.ts";
import { readWmsCatalogue } from "../../../source/wms/wms-catalogue.ts";
import { limitConcurrency } from "../../limit-concurrency.ts";
import { operation } from "../api-operation.ts";
import { secretDecoderOf } from "../json-body.ts";

const TIMEOUT_MS = 30_000;
/** The most concurrent requests of one process. Each has a connection of its own. */
const MOST_AT_ONCE = 4;
const MOST_PICTURE_BYTES = 1024 * 1024;

const wms = {
  url: z.string().meta({ description: "The address of the WMS, with the parameters that each request needs" }),
  username: z.string().exactOptional(),
  password: z.string().exactOptional(),
};
export const wmsRequestSchema = z.strictObject({
  ...wms,
  prefix: z.string().exactOptional().meta({ description: "Put before each name, such as ws:" }),
});
export const wmsPictureRequestSchema = z.strictObject({
  ...wms,
  url: z.string().meta({ description: "The address in `picture` of a layer" }),
});

const bounded = limitConcurrency(MOST_AT_ONCE, "requests to a WMS are running");

export const wmsOperations = [
  operation(
    "POST /wms/layers",
    "proposeWmsLayers",
    "Reads the capabilities of a WMS, and proposes the configuration of its layers; changes nothing",
    {
      need: "administer",
      body: { WmsRequest: wmsRequestSchema },
      answer: "WmsProposal",
    },
    async ({ clock }, { body, signal, catalogue }) => {
      const decoded = await body(secretDecoderOf(wmsRequestSchema, "WMS"));
      if (!decoded.ok) return decoded;
      const { url } = decoded.value;
      if (!isAddress(url)) return refuse(badField("url", "the http address of a WMS", url));
      const xml = await bounded(() =>
        asked(clock, { ...decoded.value, url: capabilitiesAddress(url).href }, signal, (answer) => {
          checkStatus(answer);
          return answerText(answer.body, answer.contentType);
        }),
      );
      if (!xml.ok) return xml;
      const read = readWmsCatalogue(xml.value);
      if (!read.ok) return refuse(badField("url", `a WMS whose capabilities can be used: ${read.error}`, url));
      const proposal = wmsProposal(read.value.layers, read.value, decoded.value);
      if (!proposal.ok) return refuse(badField("url", `a WMS with layers: ${proposal.error}`, url));
      const { document, layers, warnings } = proposal.value;
      return {
        ...ok({
          title: read.value.title,
          layers: document.layers.map((configuration, n) => {
            const of = layers[n];
            return {
              configuration,
              picture: of === undefined ? null : (pictureAddress(url, of, read.value)?.href ?? null),
              isTaken: typeof configuration["name"] === "string" && catalogue.layers.has(configuration["name"]),
            };
          }),
          gridSets: document.gridSets ?? [],
          warnings,
        }),
        isPreview: true,
      };
    },
  ),
  operation(
    "POST /wms/picture",
    "showWmsLayer",
    "Requests the small picture of a proposed layer of a WMS; stores nothing",
    {
      need: "administer",
      body: { WmsPictureRequest: wmsPictureRequestSchema },
      answer: "WmsPicture",
    },
    async ({ clock }, { body, signal }) => {
      const decoded = await body(secretDecoderOf(wmsPictureRequestSchema, "picture"));
      if (!decoded.ok) return decoded;
      const { url } = decoded.value;
      if (!isAddress(url)) return refuse(badField("url", "the http address of a picture", url));
      const picture = await bounded(() => asked(clock, decoded.value, signal, pictureOf));
      if (!picture.ok) return picture;
      const kind = pictureKind(picture.value);
      const isShown = (kind === "png" || kind === "jpeg") && picture.value.byteLength <= MOST_PICTURE_BYTES;
      if (!isShown) return refuse(badField("url", "a PNG or JPEG of at most 1 MiB", new URL(url).origin));
      return {
        ...ok({ picture: `data:image/${kind};base64,${Buffer.from(picture.value).toString("base64")}` }),
        isPreview: true,
      };
    },
  ),
];

const isAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

interface Asked {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
}

/** Requests an address of a WMS. A failure of the WMS is a refusal of the address. */
async function asked<T>(
  clock: Clock,
  { url, username, password = "" }: Asked,
  signal: AbortSignal,
  understand: (answer: UpstreamAnswer) => T,
): Promise<Result<T, Refusal>> {
  const address = new URL(url);
  await using upstream = createHttpFetch(
    clock,
    {
      timeoutMs: TIMEOUT_MS,
      connections: 1,
      vendorParameters: {},
      ...(username === undefined ? {} : { username, password }),
    },
    [address],
  );
  try {
    return ok(await upstream.request({ url: address, form: undefined }, signal, understand));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return refuse(badField("url", `a WMS that answers (${errorMessage(error)})`, address.origin));
  }
}
