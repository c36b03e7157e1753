-- A deleted project keeps its row, so that every node learns of it by the poll of versions too.
alter table projects add column deleted_at timestamptz;
