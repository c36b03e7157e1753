-- Events that are known by a key, so that a repeat within a week gets the first answer.

-- null: only the header Idempotency-Key counts.
alter table webhooks add column idempotency json;

-- Written in the commit that stores the submission, so a key is burnt by a commit and by nothing else. `key_hash`:
-- SHA-256 of the credential, where the key comes from, and the key. `fingerprint`: SHA-256 of path and body; null: a
-- repeat is one whatever its body. `answer`: what the first answer said beyond the submission's id and time.
create table idempotency_keys (
  workspace_id uuid not null,
  key_hash bytea not null,
  fingerprint bytea,
  submission_id uuid not null,
  received_at timestamptz not null,
  answer text not null,
  primary key (workspace_id, key_hash)
);
create index idempotency_keys_received on idempotency_keys (received_at);
