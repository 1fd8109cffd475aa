-- The table of @owner-sso/token-store-sql, for PostgreSQL: what createTable() makes.
-- For another name, give the same one as `tableName`.
CREATE TABLE IF NOT EXISTS "owner_sso_tokens" (
  account_hash text COLLATE "C" PRIMARY KEY,
  account text NOT NULL,
  version bigint NOT NULL,
  write_id text NOT NULL,
  record text NOT NULL
);
