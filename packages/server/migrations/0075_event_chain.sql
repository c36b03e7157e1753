-- The digests of the endpoints and ingest keys that an event had passed before this one, as Service-Chain brought them; null: none.
alter table submissions add column chain text;
