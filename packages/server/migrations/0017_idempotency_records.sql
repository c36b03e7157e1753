-- What POSTs of the admin API answered, kept for a day under their Idempotency-Key.
create table idempotency_records (
  workspace_id uuid not null,
  -- Of the request whose turn it is: one that was given up as too slow finds another's here, and changes nothing.
  id uuid not null,
  -- SHA-256 of the key.
  key_hash bytea not null,
  -- SHA-256 of the credential, the path and the body.
  fingerprint bytea not null,
  claimed_at timestamptz not null,
  -- null: running.
  status int,
  -- Sealed.
  response bytea,
  primary key (workspace_id, id),
  unique (workspace_id, key_hash)
);
create index idempotency_records_of_workspace on idempotency_records (workspace_id, claimed_at);
create index idempotency_records_claimed on idempotency_records (claimed_at);
