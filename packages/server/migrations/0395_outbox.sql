-- Without a mail server, an email stays readable for the operators of the installation until it is no longer useful.
alter table mails add column in_outbox boolean not null default false;
create index mails_outbox on mails (created_at) where in_outbox;
