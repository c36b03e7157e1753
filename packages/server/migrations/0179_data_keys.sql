-- Keys that read stored records on /v1/data (docs/adr/0179). The key itself is only a hash in credentials.
alter table credentials drop constraint credentials_kind_check;
alter table credentials add constraint credentials_kind_check check (kind in ('webhook_url', 'ingest_key', 'api_key', 'data_key'));

create table data_keys (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  shown_prefix text not null,
  -- null: every dataset.
  datasets text[],
  requests_per_10_seconds integer not null,
  -- Empty: every address.
  ip_allowlist text[] not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_by uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id)
);
