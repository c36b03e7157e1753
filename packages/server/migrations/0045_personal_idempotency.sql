-- What POSTs about the workspaces of a person answered (leaving, switching, accepting, creating): such a request may move the session, so
-- its key belongs to the person. The columns mean what they mean in idempotency_records.
create table personal_idempotency_records (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  key_hash bytea not null,
  fingerprint bytea not null,
  claimed_at timestamptz not null,
  status int,
  response bytea,
  unique (user_id, key_hash)
);
create index personal_idempotency_records_of_person on personal_idempotency_records (user_id, claimed_at);
create index personal_idempotency_records_claimed on personal_idempotency_records (claimed_at);
