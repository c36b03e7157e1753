-- What comes in, and where it is filed.

create table datasets (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  created_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);

create table webhooks (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  slug text not null,
  dataset text not null,
  enabled boolean not null,
  criteria json not null,
  mappings json not null,
  verification json not null,
  secret bytea,
  previous_secret bytea,
  previous_secret_expires_at timestamptz,
  url_slug bytea not null,
  previous_url_slug bytea,
  previous_url_expires_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, slug)
);

create table ingest_keys (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  shown_prefix text not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  primary key (workspace_id, project_id, id)
);

create table rules (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  dataset text not null,
  enabled boolean not null,
  conditions json not null,
  mappings json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);

-- One accepted request, bytes as received: as text when they are UTF-8 without NUL (JSON and urlencoded always are).
-- The id is a UUIDv7, so the day is in the key and retention drops whole partitions.
create table submissions (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  webhook_id uuid,
  ingest_key_id uuid,
  received_at timestamptz not null,
  source_ip text,
  content_type text,
  headers json not null,
  body text,
  body_bytes bytea,
  body_size integer not null,
  decision json not null,
  record_ids uuid[] not null,
  primary key (workspace_id, project_id, id)
) partition by range (id);
create index submissions_webhook on submissions (workspace_id, webhook_id, id) where webhook_id is not null;

-- One routed payload in a dataset; its id is the event id. `data` null: the submission's body, as it came.
create table records (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  submission_id uuid not null,
  dataset text not null,
  received_at timestamptz not null,
  -- How often the event has been through a Postroad before.
  hops smallint not null,
  data text,
  primary key (workspace_id, project_id, id)
) partition by range (id);
create index records_dataset on records (workspace_id, project_id, dataset, id);

-- Days are made ahead by upkeep; the default partitions only catch what no day was made for.
create table submissions_default partition of submissions default;
create table records_default partition of records default;
