-- The number of messages that the present connection has stored: a batch whose commit was not answered is not stored again.
alter table ws_triggers add column stored bigint not null default 0;
