-- What an ingest key may do, and the signature that it may ask for.
alter table ingest_keys
  add column enabled boolean not null default true,
  add column scopes text[] not null default '{ingest,stream}',
  -- null: every dataset.
  add column datasets text[],
  -- Sealed; held exactly while the key requires a signature.
  add column signing_secret bytea,
  add column previous_signing_secret bytea,
  add column previous_signing_secret_expires_at timestamptz,
  add column last_used_at timestamptz,
  add column updated_at timestamptz;

update ingest_keys set updated_at = created_at;
alter table ingest_keys alter column updated_at set not null;
