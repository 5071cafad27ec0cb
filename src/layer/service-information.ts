/** The contact of the provider. Capabilities omit an empty text. */
export interface ServiceContact {
  readonly individualName?: string;
  readonly positionName?: string;
  readonly addressType?: string;
  readonly addressStreet?: string;
  readonly addressCity?: string;
  readonly addressAdministrativeArea?: string;
  readonly addressPostalCode?: string;
  readonly addressCountry?: string;
  readonly phoneNumber?: string;
  readonly faxNumber?: string;
  readonly addressEmail?: string;
}

/** The description of the server in the capabilities of WMTS, WMS and TMS (GeoWebCache's `serviceInformation`). */
export interface ServiceInformation {
  readonly title?: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly serviceProvider?: {
    readonly providerName?: string;
    readonly providerSite?: string;
    readonly serviceContact?: ServiceContact;
  };
  readonly fees?: string;
  readonly accessConstraints?: string;
}

/** The official languages of the European Union (ISO 639-2/B), as INSPIRE's schema of capabilities has them. */
export const INSPIRE_LANGUAGES = [
  "bul",
  "cze",
  "dan",
  "dut",
  "eng",
  "est",
  "fin",
  "fre",
  "ger",
  "gle",
  "gre",
  "hrv",
  "hun",
  "ita",
  "lav",
  "lit",
  "mlt",
  "pol",
  "por",
  "rum",
  "slo",
  "slv",
  "spa",
  "swe",
] as const;
export type InspireLanguage = (typeof INSPIRE_LANGUAGES)[number];

/** The degrees of conformity of INSPIRE's schema (Regulation (EC) 1205/2008, part B, 7.2). */
export const CONFORMITIES = ["conformant", "notConformant", "notEvaluated"] as const;

/** Title and description in another language. An absent text is that of the configuration. */
interface Texts {
  readonly title?: string;
  readonly description?: string;
}

/** The texts of the capabilities in another language. */
export interface InspireTexts extends Texts {
  /** By the name of the layer. */
  readonly layers?: Readonly<Record<string, Texts>>;
}

/** The facts of an INSPIRE view service that WMS and WMTS have no elements for. */
export interface InspireOptions {
  /** The address of the service's metadata in a discovery service. */
  readonly metadataUrl?: string;
  /** The languages of the capabilities. The first is the language of the configuration, and the default. */
  readonly languages: readonly InspireLanguage[];
  readonly texts: Partial<Readonly<Record<InspireLanguage, InspireTexts>>>;
  /** The date of the last revision of the service (ISO 8601). With it the capabilities have all metadata. */
  readonly temporalReference?: string;
  /** The date of the metadata. Absent: `temporalReference`. */
  readonly metadataDate?: string;
  readonly conformity: (typeof CONFORMITIES)[number];
}

/** Returns the language of the answer to a request: the requested one if the service has it, else the default. */
export const responseLanguage = (
  { languages }: InspireOptions,
  requested: string | undefined,
): InspireLanguage | undefined =>
  languages.find((language) => language === requested?.trim().toLowerCase()) ?? languages[0];

/** Returns the fact that the metadata of a service lack. Undefined if they are complete. */
export function lackOfMetadata(
  { temporalReference }: InspireOptions,
  { serviceProvider = {} }: ServiceInformation,
): "providerName" | "addressEmail" | undefined {
  if (temporalReference === undefined) return undefined;
  if (!serviceProvider.providerName) return "providerName";
  return serviceProvider.serviceContact?.addressEmail ? undefined : "addressEmail";
}

/** The settings of the server, beside its layers, that the tile protocols use. */
export interface ServiceOptions {
  readonly information: ServiceInformation;
  /**
   * Whether WMTS with key-value pairs checks every request as strictly as the OGC's conformance tests (CITE) demand.
   */
  readonly isCiteCompliant: boolean;
  /** Whether all layers have `fullWms`, as with GeoWebCache's `fullWMS`. */
  readonly isFullWms: boolean;
  /** The number of this state of the catalogue in capabilities. A later state has a larger number. */
  readonly updateSequence: number;
  /** Absent if WMS and WMTS are no view services of INSPIRE. */
  readonly inspire?: InspireOptions;
}

export const STANDARD_SERVICE: ServiceOptions = {
  information: {},
  isCiteCompliant: false,
  isFullWms: false,
  updateSequence: 0,
};
