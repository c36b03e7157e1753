-- Who is connected to a stream, so that a plan's cap holds across processes. A row that its process no longer confirms
-- counts no more. Unlogged: after a crash of the database the processes write their rows anew.
create unlogged table stream_connections (
  workspace_id uuid not null,
  id uuid not null,
  seen_at timestamptz not null,
  primary key (workspace_id, id)
);

-- Lost with a crash of the database, and only then: after a crash the numbers of transactions whose end was not written
-- yet are used again, so a snapshot of before says nothing of after (docs/adr/0008).
create unlogged table stream_generation (
  single boolean primary key default true check (single),
  generation bigint not null
);
