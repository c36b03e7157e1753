-- The query string of a request, with credentials masked; null: it had none.
alter table submissions add column query text;
