-- Programs that act for a member by OAuth (docs/adr/0220). The row is the grant: tokens only name it.
create table connected_agents (
  workspace_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  client_id text not null,
  name text not null,
  -- The host that publishes the client, proven by its client id; null: the client registered itself.
  host text,
  -- null: connected by a code on a device.
  redirect_host text,
  scope text not null check (scope in ('service:read', 'service:write', 'service:manage')),
  connected_at timestamptz not null,
  last_call_at timestamptz,
  last_call text,
  last_refusal_at timestamptz,
  last_refusal text,
  last_refusal_reason text,
  last_refusal_scope text,
  revoked_at timestamptz,
  revoked_by text check (revoked_by in ('person', 'client', 'left_workspace', 'token_reused')),
  primary key (workspace_id, id),
  constraint revoked_by_somebody check ((revoked_at is null) = (revoked_by is null))
);
-- A client that asks again continues its connection. Each device has one of its own.
create unique index connected_agents_clients on connected_agents (workspace_id, user_id, client_id)
  where revoked_at is null and redirect_host is not null;
create index connected_agents_users on connected_agents (user_id, client_id) where revoked_at is null;
create index connected_agents_client_ids on connected_agents (client_id);
create index connected_agents_revoked on connected_agents (revoked_at) where revoked_at is not null;

-- Everything that the OAuth server remembers between requests: clients that registered themselves, requests that wait for a person, codes,
-- and refresh tokens. Secrets are stored as hashes only.
create table oauth_entries (
  kind text not null,
  -- The hash of the value that names it.
  hash bytea not null,
  content text not null,
  -- The grant that it belongs to, as tokens name it.
  grant_id text,
  -- The hash of the code that a person types.
  user_code_hash bytea,
  created_at timestamptz not null,
  -- null: it does not expire.
  expires_at timestamptz,
  consumed_at timestamptz,
  primary key (kind, hash)
);
create index oauth_entries_grants on oauth_entries (grant_id) where grant_id is not null;
create unique index oauth_entries_user_codes on oauth_entries (user_code_hash) where user_code_hash is not null;
create index oauth_entries_expiry on oauth_entries (expires_at) where expires_at is not null;
create index oauth_entries_age on oauth_entries (kind, created_at);
