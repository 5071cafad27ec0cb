import type { ComponentChildren } from "preact";

interface FactProps {
  readonly name: ComponentChildren;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A name with its value, in a `dl` element. */
export const Fact = ({ name, title, children }: FactProps) => (
  <>
    <dt>{name}</dt>
    <dd title={title}>{children}</dd>
  </>
);

export type NamedValue = readonly [name: string, value: ComponentChildren];

/** A list of names with their values. */
export const Facts = ({ facts }: { readonly facts: readonly NamedValue[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <Fact key={name} name={name}>
        {value}
      </Fact>
    ))}
  </dl>
);
