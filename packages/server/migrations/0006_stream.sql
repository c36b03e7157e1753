-- Who is connected to a stream, so that a plan's cap holds across processes. A row that its process no longer confirms
-- counts no more. Unlogged: after a crash of the database the processes write their rows anew.
create unlogged table stream_connections (
  workspace_id uuid not null,
  id uuid not null,
  seen_at timestamptz not null,
  primary key (workspace_id, id)
);
