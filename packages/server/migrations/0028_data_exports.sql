-- Everything of a workspace as one file that can be downloaded for a while (docs/adr/0028). `claim` rises whenever a process
-- begins: what another one still writes under an older claim changes nothing.
create table data_exports (
  workspace_id uuid not null,
  id uuid not null,
  state text not null check (state in ('pending', 'running', 'ready', 'failed')),
  requested_by uuid,
  created_at timestamptz not null,
  claim integer not null default 0,
  claimed_until timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  error text,
  files_done integer not null default 0,
  files_total integer not null,
  rows_done bigint not null default 0,
  rows_total bigint,
  bytes bigint not null default 0,
  sha256 bytea,
  -- Its file is gone, or never was; null: there are chunks, or there may be.
  swept_at timestamptz,
  deleted_at timestamptz,
  primary key (workspace_id, id)
);
create index data_exports_unswept on data_exports (created_at) where swept_at is null;

-- The file, in pieces of one size but the last. They are compressed already.
create table data_export_chunks (
  workspace_id uuid not null,
  export_id uuid not null,
  number integer not null,
  data bytea not null,
  primary key (workspace_id, export_id, number)
);
alter table data_export_chunks alter column data set storage external;
