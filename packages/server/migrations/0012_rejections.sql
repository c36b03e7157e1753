-- Requests refused after their endpoint or ingest key was known: one row for a credential, a reason and a UTC minute.
-- Not partitioned: there are few, and each plan keeps them for a time of its own (docs/adr/0011).
create table rejections (
  workspace_id uuid not null,
  project_id uuid not null,
  -- The minute, then what credential and reason make of it: all processes write into the same row.
  id uuid not null,
  webhook_id uuid,
  ingest_key_id uuid,
  reason text not null,
  status smallint not null,
  -- When the latest came, and from where.
  at timestamptz not null,
  source_ip text,
  method text not null,
  content_type text,
  count bigint not null check (count > 0),
  -- How many of `count` the audit log tells of; null: it tells of none for this reason.
  audited_count bigint check (audited_count <= count),
  -- The transaction that counted last, for streams.
  counted_xid bigint not null,
  primary key (workspace_id, project_id, id)
) with (fillfactor = 70);
create index rejections_webhook on rejections (workspace_id, webhook_id, at) where webhook_id is not null;
create index rejections_unaudited on rejections (id) where audited_count < count;
