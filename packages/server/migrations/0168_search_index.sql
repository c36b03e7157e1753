-- The search index of stored records (docs/adr/0168). A block covers the records of a project from first_id to id, in the order of
-- their ids. It is made behind the commit, so the newest records are in no block yet.
create table search_blocks (
  workspace_id uuid not null,
  project_id uuid not null,
  -- The last record of the block.
  id uuid not null,
  first_id uuid not null,
  records integer not null,
  -- The number of rows in `bits`, and the bytes of each row: one bit for each record.
  slices integer not null,
  stride integer not null,
  bits bytea not null,
  -- The ids of the records, 16 bytes each.
  ids bytea not null,
  primary key (workspace_id, project_id, id)
) partition by range (id);

-- A search reads a few rows of `bits`, so PostgreSQL stores it in pieces that it can read one by one.
alter table search_blocks alter column bits set storage external, alter column ids set storage external;

create table search_blocks_default partition of search_blocks default;
