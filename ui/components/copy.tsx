import { t } from "../core/text/i18n.ts";
import { Button } from "./button.tsx";
import { Fact } from "./facts.tsx";
import { toast } from "./toast.tsx";

/** A button that copies a text. `subject` names the text for screen readers. */
export function CopyButton({ text, subject }: { readonly text: string; readonly subject: string }) {
  return <Button label={t("copy")} class="quiet small" name={t("copy.of", { subject })} onPress={() => copy(text)} />;
}

/** Shows named texts, each with a button that copies it. */
export const CopyList = ({ entries }: { readonly entries: readonly (readonly [name: string, text: string])[] }) => (
  <dl class="commands">
    {entries.map(([name, text]) => (
      <div key={name}>
        <Fact name={name}>
          <code>{text}</code>
          <CopyButton text={text} subject={name} />
        </Fact>
      </div>
    ))}
  </dl>
);

async function copy(text: string): Promise<void> {
  try {
    await window.navigator.clipboard.writeText(text);
  } catch {
    // Pages without TLS have no clipboard. The older command works there.
    const area = document.createElement("textarea");
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(t("copied"));
}
