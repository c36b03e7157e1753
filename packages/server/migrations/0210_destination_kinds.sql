-- The kind of a destination, and the settings of this kind (ADR 210). Every destination so far is an HTTP receiver.
alter table destinations add column config json not null default '{"kind":"http"}';
