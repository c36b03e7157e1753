-- Sources that read the logical replication of PostgreSQL.
alter table sources drop constraint sources_kind_check;
alter table sources add constraint sources_kind_check
  check (kind in ('postgres', 'mysql', 'postgres_replication', 'http_poll', 'sse'));

alter table sources
  -- The replication slot when it was last looked at: its name, wal_status and bytes.
  add column slot json,
  -- When to look at it next, if nobody reads it. null: there is no slot.
  add column slot_due_at timestamptz;
create index sources_slot_due on sources (slot_due_at) where slot_due_at is not null;
