-- Accounts that agents registered for themselves (docs/adr/0174).
create table agent_accounts (
  workspace_id uuid not null,
  id uuid not null,
  -- The identity of the agent, which owns the workspace until a person claims it.
  user_id uuid not null,
  name text not null,
  operator_contact text,
  terms_version text not null,
  -- The hash of the claim token; null: the account is claimed.
  claim_hash bytea,
  created_at timestamptz not null,
  claimed_at timestamptz,
  claimed_by uuid,
  primary key (workspace_id, id),
  constraint claimed_once check ((claim_hash is null) = (claimed_at is not null and claimed_by is not null))
);
create unique index agent_accounts_claims on agent_accounts (claim_hash) where claim_hash is not null;

-- Challenges that were used, and requests under an Idempotency-Key, for a day.
create table agent_registrations (
  nonce bytea primary key,
  -- The hash of the Idempotency-Key and the source; null: none was sent.
  key_hash bytea unique,
  started_at timestamptz not null,
  -- null: it is running, or its process died.
  account_id uuid
);
create index agent_registrations_old on agent_registrations (started_at);

-- Registrations by day (UTC) and network; the empty network counts all of them.
create table agent_registration_counts (
  day date not null,
  network text not null,
  count integer not null,
  primary key (day, network)
);

alter table platform_settings
  add column agent_registration boolean not null default true,
  add column agent_registrations_per_day integer not null default 100 check (agent_registrations_per_day >= 0),
  add column terms_version text not null default '1',
  add column terms_url text;
