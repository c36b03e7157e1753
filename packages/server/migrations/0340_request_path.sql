-- The path of the request, with its credential masked. null: no sender sent the event, or it is older than this column.
alter table submissions add column path text;
