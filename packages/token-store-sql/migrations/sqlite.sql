-- The table of @owner-sso/token-store-sql, for SQLite: what createTable() makes.
-- For another name, give the same one as `tableName`.
CREATE TABLE IF NOT EXISTS "owner_sso_tokens" (
  account_hash text NOT NULL PRIMARY KEY,
  account text NOT NULL,
  version integer NOT NULL,
  write_id text NOT NULL,
  record text NOT NULL
) STRICT;
