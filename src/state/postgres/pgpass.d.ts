declare module "pgpass" {
  interface Connection {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }
  /** Calls back with the password that the password file has for a connection; undefined: none. */
  function pgpass(connection: Connection, found: (password: string | undefined) => void): void;
  export = pgpass;
}
