import { computed, signal } from "@preact/signals";
import type * as en from "../../texts/en.json";
import type * as settings from "../../texts/en-settings.json";

/**
 * A text with a form for one thing and a form for several (CLDR plural categories; all other categories use `other`).
 */
interface Plural {
  readonly one: string;
  readonly other: string;
}
type Text = string | Plural;
/** Texts by their key. A text that a language lacks is English. */
type Texts = Readonly<Partial<Record<string, Text>>>;
/** The keys of the English texts, which are all that there are. */
export type TextKey = Exclude<keyof typeof en | keyof typeof settings, "default">;

interface Language {
  /** The name that its speakers use. */
  readonly name: string;
  readonly load: () => Promise<{ readonly default: Texts }>;
  /** The texts of the settings, which few readers see. */
  readonly loadSettings: () => Promise<{ readonly default: Texts }>;
}

const ENGLISH: Language = {
  name: "English",
  load: () => import("../../texts/en.json", { with: { type: "json" } }),
  loadSettings: () => import("../../texts/en-settings.json", { with: { type: "json" } }),
};

/** The languages. Each catalogue is loaded when it is needed. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: ENGLISH,
  de: {
    name: "Deutsch",
    load: () => import("../../texts/de.json", { with: { type: "json" } }),
    loadSettings: () => import("../../texts/de-settings.json", { with: { type: "json" } }),
  },
  fr: {
    name: "Français",
    load: () => import("../../texts/fr.json", { with: { type: "json" } }),
    loadSettings: () => import("../../texts/fr-settings.json", { with: { type: "json" } }),
  },
  es: {
    name: "Español",
    load: () => import("../../texts/es.json", { with: { type: "json" } }),
    loadSettings: () => import("../../texts/es-settings.json", { with: { type: "json" } }),
  },
};

const STORED = "nuthatch.language";
export const language = signal("en");
/** The language with the reader's region, which decides how numbers and times are written. */
export const locale = computed(
  () => window.navigator.languages.find((tag) => tag.split("-")[0] === language.value) ?? language.value,
);
const catalogue = signal<Texts>({});
/** The English texts, once the catalogue has lacked one. */
const english = signal<Texts>({});
let needsEnglish = false;
/** Whether a view has needed the texts of the settings. */
let hasSettings = false;
/** The last chosen language. A catalogue of another language that arrives later is not used. */
let latest = "en";

function preferred(): string {
  const wanted = [window.localStorage.getItem(STORED) ?? "", ...window.navigator.languages];
  return wanted.map((tag) => tag.split("-")[0] ?? "").find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";
}

async function textsOf({ load, loadSettings }: Language): Promise<Texts> {
  const common = (await load()).default;
  return hasSettings ? { ...common, ...(await loadSettings()).default } : common;
}

/** Returns a text of the chosen language, else the English one, which is loaded when the first text lacks. */
function textOf(key: string): Text | undefined {
  const found = catalogue.value[key] ?? english.value[key];
  if (found === undefined && !needsEnglish && language.value !== "en") {
    needsEnglish = true;
    void textsOf(ENGLISH).then((texts) => {
      english.value = texts;
    });
  }
  return found;
}

/** Loads the catalogue of a language, by default of the reader's preferred language. */
export async function loadLanguage(tag = preferred()): Promise<void> {
  const chosen = LANGUAGES[tag];
  if (chosen === undefined) return;
  latest = tag;
  const texts = await textsOf(chosen);
  if (latest !== tag) return;
  if (needsEnglish) english.value = await textsOf(ENGLISH);
  catalogue.value = texts;
  language.value = tag;
  document.documentElement.lang = tag;
}

/** Loads the texts of the settings in the current language. */
export async function loadSettingsTexts(): Promise<void> {
  hasSettings = true;
  await loadLanguage(latest);
}

export async function chooseLanguage(tag: string): Promise<void> {
  window.localStorage.setItem(STORED, tag);
  await loadLanguage(tag);
}

/**
 * Returns a text in the reader's language. `{name}` in the text is replaced by the value of that name. `count` selects
 * the plural form.
 */
export function t(key: TextKey, values: Readonly<Record<string, string | number | bigint>> = {}): string {
  const text = textOf(key);
  const chosen = typeof text === "object" ? text[pluralForm(Number(values["count"] ?? 0))] : text;
  return (chosen ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "string" ? value : new Intl.NumberFormat(locale.value).format(value);
  });
}

const pluralForm = (count: number): keyof Plural =>
  new Intl.PluralRules(language.value).select(count) === "one" ? "one" : "other";

/** Returns the text of a key that the program makes, such as `outcome.done`; the last part if there is none. */
export function tMaybe(key: string): string {
  return textOf(key) === undefined ? key.slice(key.lastIndexOf(".") + 1) : t(key as TextKey);
}
