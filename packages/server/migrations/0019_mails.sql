-- Mail is queued in the transaction of the change that it tells of, and sent by a loop.
create table mails (
  id uuid primary key,
  kind text not null,
  -- Address and letter, sealed, since letters hold links that sign in. Null once it was sent or given up.
  sealed bytea,
  created_at timestamptz not null,
  -- After this nobody has a use for it.
  expires_at timestamptz not null,
  due_at timestamptz not null,
  attempts integer not null default 0,
  sent_at timestamptz,
  failed_at timestamptz,
  last_error text
);
create index mails_due on mails (due_at) where sent_at is null and failed_at is null;
create index mails_created on mails (created_at);
