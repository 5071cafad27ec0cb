import { Command, InvalidArgumentError } from "commander";

function parseTable(text: string): { readonly schema: string; readonly table: string } {
  const [first = "", second, ...rest] = text.split(".");
  const [schema, table] = second === undefined ? ["public", first] : [first, second];
  if (rest.length > 0 || schema === "" || table === "" || /["\p{Cc}]/u.test(text))
    throw new InvalidArgumentError("It has the form TABLE or SCHEMA.TABLE.");
  return { schema, table };
}

function parseColumn(text: string): string {
  if (text === "" || /["\p{Cc}]/u.test(text)) throw new InvalidArgumentError("It is the name of a column.");
  return text;
}

function parseSrid(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It is an EPSG code, such as 4326.");
  return Number(text);
}

interface SqlFlags {
  readonly table: ReturnType<typeof parseTable>;
  readonly geometry: string;
  readonly srid?: number;
}

/** `nuthatch changes`: what a database needs to report its changes. */
export function changesCommand(): Command {
  return new Command("changes").description("helps a database to report its changes").addCommand(
    new Command("sql")
      .description("prints the SQL of the outbox, and of the triggers that write the changes of a table into it")
      .requiredOption("--table <name>", "the table, such as public.roads; also the topic of its changes", parseTable)
      .requiredOption("--geometry <column>", "the column with the geometry", parseColumn)
      .option("--srid <code>", "the column has PostgreSQL's type box, in this CRS; absent: PostGIS", parseSrid)
      .action(async ({ table, geometry, srid }: SqlFlags) => {
        const { outboxSql } = await import("../../feed/outbox/outbox-sql.ts");
        process.stdout.write(outboxSql({ ...table, geometry, srid }));
      }),
  );
}
