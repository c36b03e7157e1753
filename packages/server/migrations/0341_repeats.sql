-- duplicates: how many repeats were answered with this submission, the latest at duplicate_at. key_reused: an earlier event had the
-- same key of its endpoint and another body. Written a second after the answer.
alter table submissions add column duplicates integer, add column duplicate_at timestamptz, add column key_reused boolean;
create index submissions_repeated on submissions (workspace_id, webhook_id, id) where duplicates is not null or key_reused;
-- SHA-256 of the key alone, where an endpoint takes it from its events: the hash of the key has the body too.
alter table idempotency_keys add column id_hash bytea;
create index idempotency_keys_id on idempotency_keys (workspace_id, id_hash) where id_hash is not null;
