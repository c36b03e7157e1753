-- WebSockets that Postroad listens to. A lease names the one process that is connected.
create table ws_triggers (
  workspace_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  name text not null,
  url text not null,
  dataset text not null,
  conditions json not null,
  enabled boolean not null,
  -- The values of headers and the subscribe messages, because either may contain a token.
  secret bytea,
  heartbeat json,
  stale_seconds integer not null,
  max_payload_bytes integer not null,
  fence bigint not null default 0,
  owner text,
  lease_until timestamptz,
  connected_at timestamptz,
  received bigint not null default 0,
  filed bigint not null default 0,
  dropped bigint not null default 0,
  failures integer not null default 0,
  connect_at timestamptz not null,
  last_message_at timestamptz,
  last_error json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, project_id, id),
  unique (workspace_id, project_id, name)
);
create index ws_triggers_enabled on ws_triggers (connect_at) where enabled;
