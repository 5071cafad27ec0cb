import { chooseLanguage, LANGUAGES, language, t } from "../core/text/i18n.ts";

/** Chooses the language of the console, which the browser remembers. */
export const LanguageField = () => (
  <div class="field">
    <label for="language">{t("language")}</label>
    <select id="language" value={language.value} onChange={(event) => void chooseLanguage(event.currentTarget.value)}>
      {Object.entries(LANGUAGES).map(([tag, { name }]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  </div>
);
