-- Somebody is asked to join a workspace. The row ends when the invite is accepted or revoked; the audit log keeps the story.
create table invites (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  email text not null,
  role text not null check (role in ('viewer', 'developer', 'admin', 'owner')),
  invited_by uuid not null,
  -- SHA-256 of the token in the mailed link.
  token_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (workspace_id, id)
);
create unique index invites_email on invites (workspace_id, lower(email));
-- Who has no account yet is let in by the mail when an invite waits for that address.
create index invites_to on invites (lower(email));
