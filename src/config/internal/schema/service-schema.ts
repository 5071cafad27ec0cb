import { anyText, list, map, optional, text } from "./fields.ts";

const optionalText = optional(anyText);

/** The elements of GeoWebCache's `serviceInformation`, under their names. */
export const ServiceInformationSchema = map({
  title: optionalText.describe("The title of the service in capabilities."),
  description: optionalText,
  keywords: optional(list(text)),
  serviceProvider: optional(
    map({
      providerName: optionalText,
      providerSite: optionalText.describe("The address of the provider's site."),
      serviceContact: optional(
        map({
          individualName: optionalText,
          positionName: optionalText,
          addressType: optionalText,
          addressStreet: optionalText,
          addressCity: optionalText,
          addressAdministrativeArea: optionalText,
          addressPostalCode: optionalText,
          addressCountry: optionalText,
          phoneNumber: optionalText,
          faxNumber: optionalText,
          addressEmail: optionalText,
        }),
      ),
    }),
  ),
  fees: optionalText,
  accessConstraints: optionalText,
});
