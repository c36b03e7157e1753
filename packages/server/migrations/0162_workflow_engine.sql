-- The engine of workflows (docs/adr/0162): which records a wait may match, how far the matcher has read, and the workspaces whose
-- instances are paused.

-- wait_path: the path whose value wait_key was made of. wait_since: the snapshot of the commit that began the wait; records that it
-- sees are older than the wait.
alter table workflow_instances add column wait_path text, add column wait_since text;
drop index workflow_instances_wait;
create index workflow_instances_wait on workflow_instances (project_id, wait_dataset, wait_path, wait_key) where wait_key is not null;

-- One row: every record that this snapshot sees has been compared with the waits.
create table workflow_matcher (
  single boolean primary key default true check (single),
  history text not null,
  snapshot text not null,
  floor_ms bigint not null,
  moved_at timestamptz not null
);
insert into workflow_matcher (history, snapshot, floor_ms, moved_at)
values ('0-0', '1:1:', (extract(epoch from now()) * 1000)::bigint - 60000, now());

-- A workspace that is suspended or closed has a row, from the commit that halted it until all its instances run again. The engine
-- takes no instance of such a workspace.
create table workflow_pauses (
  workspace_id uuid primary key,
  phase text not null default 'pausing' check (phase in ('pausing', 'paused', 'resuming')),
  halted_at timestamptz not null,
  -- Null while the workspace is halted.
  resumed_at timestamptz
);
