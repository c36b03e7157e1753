-- Who a person is, and how they prove it. A person may be in many workspaces, so none of these is a tenant table.

-- users.email is an address that its owner has proven; two accounts never share one.
create unique index users_email on users (lower(email)) where email is not null;

-- A person signs in to the workspaces they are in.
create index if not exists members_user on members (user_id);

create table passwords (
  user_id uuid primary key references users (id) on delete cascade,
  -- Says its own parameters, so that they can be raised later.
  hash text not null,
  changed_at timestamptz not null
);

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  credential_id text not null unique,
  name text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id);

-- An account at an identity provider. The email it told is kept nowhere: it proves nothing later.
create table identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index identities_user on identities (user_id);

-- What may be used once: links sent by mail, and challenges for passkeys. Without user_id it was asked for by nobody we know.
drop table sign_in_links;
create table one_time_tokens (
  hash bytea primary key,
  purpose text not null check (purpose in ('sign_in', 'reset_password', 'confirm_email', 'passkey_sign_in', 'passkey_registration')),
  user_id uuid references users (id) on delete cascade,
  workspace_id uuid,
  email text,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index one_time_tokens_user on one_time_tokens (user_id);
create index one_time_tokens_expires on one_time_tokens (expires_at);

-- Everybody signs in anew: sessions now say how, from where and until when.
drop table sessions;
create table sessions (
  id uuid primary key,
  hash bytea not null unique,
  user_id uuid not null references users (id) on delete cascade,
  -- Where the person works at the moment; null for who is in no workspace yet.
  workspace_id uuid,
  method text not null check (method in ('password', 'link', 'passkey', 'oidc')),
  ip text,
  user_agent text,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index sessions_user on sessions (user_id);
create index sessions_expires on sessions (expires_at);

-- Token buckets that all nodes share, by the hash of what is limited: when each will be full again.
create table throttles (
  hash bytea primary key,
  full_at timestamptz not null
);
create index throttles_full on throttles (full_at);
