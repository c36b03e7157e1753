-- Events of ingest keys, sources and WebSocket triggers name customers too (docs/adr/0275). null: they name none.
alter table ingest_keys add column customer json;
alter table sources add column customer json;
alter table ws_triggers add column customer json;
