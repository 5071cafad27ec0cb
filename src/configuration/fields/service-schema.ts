import * as z from "zod";
import { CONFORMITIES, INSPIRE_LANGUAGES } from "../../layer/service-information.ts";
import { anyText, expected, httpUrl, list, map, oneOf, optional, someOf, text, unlessUnfit, wrong } from "./fields.ts";

const optionalText = optional(anyText);

export const ServiceContactSchema = map({
  individualName: optionalText.describe("The contact person."),
  positionName: optionalText.describe("The person's position."),
  addressType: optionalText.describe("The type of the address, such as postal."),
  addressStreet: optionalText.describe("Street and number."),
  addressCity: optionalText.describe("The city."),
  addressAdministrativeArea: optionalText.describe("The state or province."),
  addressPostalCode: optionalText.describe("The postal code."),
  addressCountry: optionalText.describe("The country."),
  phoneNumber: optionalText.describe("The telephone number."),
  faxNumber: optionalText.describe("The fax number."),
  addressEmail: optionalText.describe("The email address."),
});

export const ServiceProviderSchema = map({
  providerName: optionalText.describe("The name of the provider."),
  providerSite: optionalText.describe("The address of the provider's site."),
  serviceContact: optional(ServiceContactSchema).describe("How to reach the provider."),
});

/** The elements of GeoWebCache's `serviceInformation`, with GeoWebCache's names. */
export const ServiceInformationSchema = map({
  title: optionalText.describe("The title of the service in capabilities."),
  description: optionalText.describe("The description of the service."),
  keywords: optional(list(text)).describe("The keywords of the service."),
  serviceProvider: optional(ServiceProviderSchema).describe("The provider of the service."),
  fees: optionalText.describe("The fees for the use of the service."),
  accessConstraints: optionalText.describe("The constraints on access to the service."),
});

const webAddress = text.refine(
  (value) => httpUrl(value) !== undefined,
  unlessUnfit("an address with http:// or https://"),
);

const day = text.refine(
  (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value) === true,
  unlessUnfit("a date such as 2026-01-31"),
);

const translation = {
  title: optionalText.describe("The title in the language."),
  description: optionalText.describe("The description in the language."),
};
const TranslationSchema = map({
  ...translation,
  layers: optional(z.record(z.string(), map(translation), "a map")).describe("The texts of layers, by their names."),
});

/** What makes WMS and WMTS view services of INSPIRE. */
export const InspireSchema = map({
  metadataUrl: optional(webAddress).describe("The address of the service's metadata in a discovery service."),
  languages: someOf(oneOf(INSPIRE_LANGUAGES)).describe(
    "The languages of the capabilities (ISO 639-2/B). The first is the default, and the language of the configuration.",
  ),
  texts: z
    .partialRecord(oneOf(INSPIRE_LANGUAGES), TranslationSchema, "a map")
    .default({})
    .describe("Titles and descriptions in the other languages, by language."),
  temporalReference: optional(day).describe(
    "The date of the last revision of the service. With it the capabilities have all metadata of the service.",
  ),
  metadataDate: optional(day).describe("The date of the metadata. Default: temporalReference."),
  conformity: oneOf(CONFORMITIES)
    .default("notEvaluated")
    .describe("Whether the service conforms to Regulation (EC) 976/2009."),
}).superRefine(({ metadataUrl, temporalReference, languages, texts }, context) => {
  if (metadataUrl === undefined && temporalReference === undefined)
    wrong(context, [], "expected metadataUrl or temporalReference, or both");
  const [, ...others] = languages;
  if (new Set(languages).size < languages.length) expected(context, ["languages"], "each language once");
  for (const language of Object.keys(texts))
    if (!others.some((other) => other === language))
      expected(context, ["texts", language], "a language of the list languages, but not the first");
});
